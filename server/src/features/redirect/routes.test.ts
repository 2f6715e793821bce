import { createClient } from '@tributary/contract/client'
import { listEvents } from '@tributary/contract/events'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { query } from '../../platform/clickhouse.ts'
import { clickHour, clickKeys, readClickId } from '../click-ids/service.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const destination = 'https://example.com/landing?q=a%20b&sig=~x#part'
let workspace: BuiltWorkspace

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  for (const key of ['go', 'a/b/c', 'Ünï/漢字', 'off', 'over', 'over-there']) {
    await buildLink(platform, workspace, { key, url: destination })
  }
  await alter('off', sql`disabled_at = now()`)
  await alter('over', sql`expires_at = now() - interval '1 second'`)
  await alter('over-there', sql`expires_at = now() - interval '1 second', expired_url = 'https://example.com/schön'`)
})

function alter(key: string, change: ReturnType<typeof sql>) {
  return sql`UPDATE links SET ${change} WHERE workspace_id = ${workspace.id} AND key = ${key}`.execute(platform.db)
}

function open(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return visit(`${redirect}${path}`, { host: workspace.domain, 'user-agent': browser, ...headers }, method)
}

async function findNumber(id: string): Promise<bigint> {
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return result.rows[0]?.number ?? 0n
}

describe('a link', () => {
  test('redirects to its destination, and the response may not be cached', async () => {
    const answer = await open('/go')
    expect(answer).toMatchObject({ status: 302, body: '' })
    expect(answer.headers).toMatchObject({ location: destination, 'content-length': '0', 'x-robots-tag': 'noindex' })
    expect(answer.headers['cache-control']).toBe('private, no-store')
  })

  test.each([
    ['capitals in the key', '/GO', {}],
    ['a slash at the end', '/go/', {}],
    ['the parameter of a scanned code', '/go?qr=1', {}],
    ['several segments', '/a/b/c', {}],
    ['an encoded slash', '/a%2Fb%2Fc', {}],
    ['letters of another script', `/${encodeURI('Ünï/漢字')}`, {}],
    ['the same in decomposed letters and another case', `/${encodeURI('üNÏ/漢字'.normalize('NFD'))}`, {}],
  ])('is found with %s', async (_name, path, headers) => {
    expect(await open(path, headers)).toMatchObject({ status: 302, headers: { location: destination } })
  })

  test.each([
    ['a port', (domain: string) => `${domain}:8443`],
    ['capitals', (domain: string) => domain.toUpperCase()],
    ['a trailing dot', (domain: string) => `${domain}.`],
    ['capitals, a port and a final dot together', (domain: string) => `${domain.toUpperCase()}.:80`],
  ])('is found when the host has %s', async (_name, written) => {
    expect(await open('/go', { host: written(workspace.domain) })).toMatchObject({ status: 302 })
  })

  test("passes the visitor's query on, but no click id in it", async () => {
    await buildLink(platform, workspace, { key: 'passed', url: destination, trackConversion: true })
    const { headers } = await open('/passed?utm_source=x&trib_id=forged&q=new&flag&b=%C3%A4')
    const location = headers.location ?? ''
    expect(location).toMatch(/[?]sig=~x&utm_source=x&q=new&flag&b=%C3%A4&trib_id=[\w-]{40}#part$/)
    expect(location).not.toContain('forged')
  })

  test('is found within a second after it was created, even if it was requested before', async () => {
    expect((await open('/soon')).status).toBe(404)
    await buildLink(platform, workspace, { key: 'soon', url: destination })
    await eventually(async () => expect((await open('/soon')).status).toBe(302), 1_000)
  })
})

describe('a request that is not found', () => {
  test.each([
    ['an unknown key', '/none', {}],
    ['an unknown host', '/go', { host: 'nobody.example' }],
    ['a root without a link', '/', {}],
    ['a root with a query', '/?a=b', {}],
    ['broken encoding', '/%zz', {}],
    ['a truncated percent escape', '/go%', {}],
    ['bytes that are not text', '/%E0%A4%A', {}],
    ['a control character', '/%00', {}],
    ['a control character after a key', '/go%00', {}],
    ['a reserved name', '/_root', {}],
    ['a key that is too long', `/${'a'.repeat(5_000)}`, {}],
    ['a host that is too long', '/go', { host: `${'a.'.repeat(500)}example` }],
  ])('%s', async (_name, path, headers) => {
    const answer = await open(path, headers)
    expect(answer.status).toBe(404)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, no-store',
    })
    expect(answer.headers.location).toBeUndefined()
    expect(answer.body).toContain('<title>Link not found</title>')
    expect(answer.headers['x-robots-tag']).toBe('noindex')
  })

  test('a link of another domain', async () => {
    const other = await buildWorkspace(platform)
    await buildLink(platform, other, { key: 'theirs' })
    expect((await open('/theirs')).status).toBe(404)
    expect((await open('/theirs', { host: other.domain })).status).toBe(302)
  })
})

describe('a disabled or expired link', () => {
  test.each([
    ['/off', 'Link disabled'],
    ['/over', 'Link expired'],
  ])('%s', async (path, title) => {
    const answer = await open(path)
    expect(answer.status).toBe(410)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, no-store',
    })
    expect(answer.body).toContain(`<title>${title}</title>`)
  })

  test('leads to its expired URL', async () => {
    const answer = await open('/over-there')
    expect(answer).toMatchObject({ status: 302, headers: { location: 'https://example.com/sch%C3%B6n' } })
  })
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is not allowed', async (method) => {
  for (const path of ['/go', '/none']) {
    expect(await open(path, {}, method)).toMatchObject({ status: 405, body: '', headers: { allow: 'GET, HEAD' } })
  }
})

test('the root of a domain leads to its root link', async () => {
  const own = await buildWorkspace(platform)
  const { id } = await buildLink(platform, own, { url: destination })
  await sql`UPDATE links SET key = '_root', lookup_key = '_root' WHERE id = ${id}`.execute(platform.db)
  for (const [path, location] of [
    ['/', destination],
    ['/?a=b', destination.replace('#', '&a=b#')],
  ] as const) {
    expect(await open(path, { host: own.domain })).toMatchObject({ status: 302, headers: { location } })
  }
})

describe('the click id', () => {
  test('is added to links with conversion tracking only, and can be decoded', async () => {
    const { id } = await buildLink(platform, workspace, { key: 'tracked', url: destination, trackConversion: true })
    const { headers } = await open('/tracked')
    const location = new URL(headers.location ?? '')
    const clickId = location.searchParams.get('trib_id') ?? ''
    expect(location.href).toBe(destination.replace('#', `&trib_id=${clickId}#`))
    const token = readClickId(clickKeys(platform.config), clickId)
    expect(token?.linkNumber).toBe(await findNumber(id))
    expect(Math.abs((token?.hour ?? 0) - clickHour(Date.now()))).toBeLessThanOrEqual(1)
    expect((await open('/go')).headers.location).not.toContain('trib_id')
  })

  test('is the same for a returning visitor and different for everybody else', async () => {
    await buildLink(platform, workspace, { key: 'again', trackConversion: true })
    const at = Date.now()
    const ids = await Promise.all(['one', 'one', 'two'].map((agent) => fetchClickId('/again', `${browser} ${agent}`)))
    if (clickHour(at) !== clickHour(Date.now())) return
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
  })

  async function fetchClickId(path: string, userAgent: string) {
    const { headers } = await open(path, { 'user-agent': userAgent })
    return new URL(headers.location ?? '').searchParams.get('trib_id')
  }
})

describe('counting', () => {
  async function stored(linkNumber: bigint) {
    return query<{ bot: string; trigger: string; url: string; ip: string; country: string; referer: string }>(
      platform.clickhouse,
      `SELECT bot, trigger, url, toString(ip) AS ip, country, referer FROM click_events
       WHERE workspace_id = {workspaceId:String} AND link_number = {linkNumber:UInt64} ORDER BY timestamp, bot`,
      { workspaceId: workspace.id, linkNumber },
    )
  }

  test('counts a person once an hour, and stores HEAD, prefetch and crawlers without counting them', async () => {
    const link = await buildLink(platform, workspace, { key: 'counted', url: destination })
    const agent = (name: string) => ({ 'user-agent': `${browser} ${name}` })
    const before = Date.now()
    expect((await open('/counted', agent('head'), 'HEAD')).status).toBe(302)
    for (const header of ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']) {
      expect((await open('/counted', { ...agent(header), [header]: 'prefetch' })).status).toBe(302)
    }
    await open('/counted', { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' })
    await open('/counted', { 'user-agent': '' })
    await open('/counted', agent('person'))
    await open('/counted', agent('person'))
    await open('/counted', agent('head'))
    const rows = await eventually(async () => {
      const found = await stored(await findNumber(link.id))
      expect(found.filter((row) => row.bot === '').length).toBeGreaterThanOrEqual(2)
      return found
    })
    if (clickHour(before) !== clickHour(Date.now())) return
    expect(rows.map((row) => row.bot).sort()).toEqual(
      ['', '', 'head', 'no-user-agent', 'prefetch', 'prefetch', 'prefetch', 'prefetch', 'user-agent'].sort(),
    )
    const call = createClient({ url: api, token: workspace.key })
    // Link counters are updated after the click rows, in a separate transaction.
    await eventually(async () => {
      const events = await call(listEvents, { query: { linkId: link.id } })
      expect(events.map((event) => event.link.clicks)).toEqual([2, 2])
    })
  })

  test('ignores requests for missing, disabled or expired links, and POST requests', async () => {
    await Promise.all([open('/off'), open('/over'), open('/over-there'), open('/go', {}, 'POST'), open('/none')])
    const marker = await buildLink(platform, workspace, { key: 'marker' })
    await open('/marker')
    await eventually(async () => expect(await stored(await findNumber(marker.id))).toHaveLength(1))
    const result = await sql<{ number: bigint }>`SELECT number FROM links
      WHERE workspace_id = ${workspace.id} AND key IN ('off', 'over', 'over-there')`.execute(platform.db)
    for (const { number } of result.rows) expect(await stored(number)).toEqual([])
  })

  test('records a scan, the destination without the click id, and no location headers of an untrusted client', async () => {
    const link = await buildLink(platform, workspace, { key: 'scan', url: destination, trackConversion: true })
    const forged = { 'x-forwarded-for': '203.0.113.7', 'cf-ipcountry': 'DE', 'x-country': 'DE' }
    await open('/scan?ref=a?b&qr=1', { ...forged, referer: 'https://www.example.org/page' })
    const rows = await eventually(async () => {
      const found = await stored(await findNumber(link.id))
      expect(found).toHaveLength(1)
      return found
    })
    const url = destination.replace('#', '&ref=a?b#')
    expect(rows).toEqual([
      { bot: '', trigger: 'qr', url, ip: '::ffff:127.0.0.0', country: 'Unknown', referer: 'example.org' },
    ])
  })
})
