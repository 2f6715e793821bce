import { randomUUID } from 'node:crypto'
import { createServer, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { type Asked, startCaddy } from '../deploy/test/caddy.ts'
import { freePort } from '../engines/port.ts'
import { addDomain } from '../server/src/features/domains/service.ts'
import { changeWorkspace } from '../server/src/features/workspaces/service.ts'
import { browser, buildWorkspace } from '../server/test/build.ts'
import { setZone } from '../server/test/dns-server.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

const parts = new AsyncDisposableStack()
afterAll(() => parts.disposeAsync())
const platform = await openTestPlatform()
const id = randomUUID().slice(0, 8)
const apiHost = `api-${id}.example`
const shortDomain = `links-${id}.example`
const settings = {
  ENVIRONMENT: 'production',
  API_URL: `https://${apiHost}`,
  SHORT_DOMAIN: shortDomain,
  TRUSTED_PROXIES: '127.0.0.1',
}
const server = await startServer({ ...inject('environment'), ...settings })
parts.defer(async () => void (await server.stop()))
const caddy = parts.use(
  await startCaddy({
    API_HOST: apiHost,
    API_UPSTREAM: server.api.slice('http://'.length),
    REDIRECT_UPSTREAM: server.redirect.slice('http://'.length),
    TLS_ASK_URL: `${server.ops}/internal/tls-allowed`,
  }),
)
const workspace = await buildWorkspace(platform)
await changeWorkspace(platform, workspace.id, { ip_storage: 'full' })

async function call(path: string, body?: object) {
  const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' }
  const asked: Asked = { path, headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
  const answer = await caddy.ask(apiHost, asked)
  expect(answer.status, answer.body).toBeLessThan(300)
  return JSON.parse(answer.body)
}

const destination = 'https://example.com/landing'

/** Adds a domain as a customer would, with a link and not verified. */
async function addUnproved(): Promise<string> {
  const slug = `go-${randomUUID().slice(0, 13)}.example`
  await call('/domains', { slug })
  await call('/links', { domain: slug, key: 'hello', url: destination })
  return slug
}

test('a domain gets a certificate after it is verified, not before', async () => {
  const slug = await addUnproved()
  await expect(caddy.ask(slug, { path: '/hello' })).rejects.toThrow(/alert/)
  const plain = await visit(`http://127.0.0.1:${caddy.httpPort}/hello`, { host: slug, 'user-agent': browser })
  expect([plain.status, plain.headers.location]).toEqual([302, destination])

  const { records }: { records: Record<string, string>[] } = await call(`/domains/${slug}/records`)
  const proof = records.find(({ type }) => type === 'TXT')
  await setZone(inject('dns'), proof?.name ?? '', [{ type: 'TXT', data: proof?.value ?? '' }])
  await eventually(async () => {
    await call(`/domains/${slug}/records`)
    const answer = await caddy.ask(slug, { path: '/hello', headers: { 'user-agent': browser } })
    expect([answer.status, answer.headers.location]).toEqual([302, destination])
  }, 60_000)
})

test('the shared domain has a certificate, unknown hosts have none', async () => {
  expect((await caddy.ask(shortDomain, { path: '/nothing' })).status).toBe(404)
  for (const name of [`no-${id}.example`, `deep.${shortDomain}`, 'example.com']) {
    await expect(caddy.ask(name), name).rejects.toThrow(/alert/)
  }
})

test('the API is served by HTTPS only', async () => {
  const answer = await caddy.ask(apiHost, { path: '/healthz' })
  expect(answer.status).toBe(200)
  expect(answer.headers['strict-transport-security']).toBe('max-age=31536000')
  const plain = await visit(`http://127.0.0.1:${caddy.httpPort}/healthz`, { host: apiHost })
  expect([plain.status, plain.headers.location?.replace(/:\d+/, '')]).toEqual([308, `https://${apiHost}/healthz`])
})

test('a request with the longest query passes', async () => {
  const { key } = await buildWorkspace(platform, { plan: 'business' })
  const query = new URLSearchParams({ event: 'leads', query: `metadata['k']:'${'漢'.repeat(9_980)}'` })
  const answer = await caddy.ask(apiHost, { path: `/events?${query}`, headers: { authorization: `Bearer ${key}` } })
  expect(answer.status).toBe(200)
})

test('private endpoints are not reachable', async () => {
  expect((await caddy.ask(apiHost, { path: '/metrics' })).status).toBe(401)
  for (const path of ['/internal/tls-allowed?domain=example.com', '/readyz']) {
    expect((await caddy.ask(shortDomain, { path })).status, path).toBe(404)
  }
})

test("a visitor's forwarded headers are ignored, both through Caddy and past it", async () => {
  const host = `go-${randomUUID().slice(0, 13)}.example`
  await addDomain(platform, { workspaceId: workspace.id, slug: host })
  const link = await call('/links', { domain: host, url: destination })
  const forged = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'cf-ipcountry': 'BR',
    'cf-ipcity': 'Recife',
    'x-country': 'BR',
    'x-city': 'Recife',
    'x-continent': 'SA',
    'x-region': 'PE',
    'user-agent': browser,
  }
  const path = `/${link.key}`
  await caddy.ask(host, { path, headers: forged, from: '127.0.0.7' })
  await askPlainly(`${server.redirect}${path}`, { ...forged, host }, '127.0.0.8')
  const events = await eventually(async () => {
    const found: { click: Record<string, string> }[] = await call(`/events?linkId=${link.id}&interval=24h`)
    expect(found).toHaveLength(2)
    return found
  }, 30_000)
  expect(events.map(({ click }) => click.ip).sort()).toEqual(['127.0.0.7', '127.0.0.8'])
  for (const { click } of events) expect([click.country, click.city]).toEqual(['Unknown', 'Unknown'])

  const headers = { ...forged, authorization: `Bearer ${workspace.key}` }
  expect(await askPlainly(`${server.api}/links`, headers, '127.0.0.8')).toBe(403)
})

test('a request waits while the only server restarts', async () => {
  const port = await freePort()
  const only = createServer((_, response) => response.writeHead(204, { connection: 'close' }).end())
  await new Promise<void>((resolve) => only.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void only.close())
  await using alone = await startCaddy({ API_HOST: apiHost, REDIRECT_UPSTREAM: `127.0.0.1:${port}` })
  await new Promise((resolve) => only.close(resolve))
  const answer = visit(`http://127.0.0.1:${alone.httpPort}/hello`, { host: shortDomain })
  await sleep(5_000)
  only.listen(port, '127.0.0.1')
  expect((await answer).status).toBe(204)
})

/** Sends a request directly to the server, from an address that is not a trusted proxy. */
function askPlainly(url: string, headers: Record<string, string>, localAddress: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers, localAddress, agent: false }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })
}
