import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { type Answer, visit } from '../../../test/visit.ts'
import { start } from '../../roles/redirect.ts'
import { redirectMetrics } from './metrics.ts'

const folder = await mkdtemp(join(tmpdir(), 'tributary-answers-'))
const settings = { TRUSTED_PROXIES: '127.0.0.1', REDIRECT_PORT: '0', SPOOL_DIRECTORY: folder }
const platform = await openTestPlatform(settings)
const role = await start(platform)
let workspace: BuiltWorkspace
let keys = 0

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
})
afterAll(async () => {
  await role[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function linkWith(change: ReturnType<typeof sql>, url = 'https://example.com/landing'): Promise<string> {
  const { id, key } = await buildLink(platform, workspace, { key: `answer-${keys++}`, url })
  await sql`UPDATE links SET ${change} WHERE id = ${id}`.execute(platform.db)
  return `/${key}`
}

function open(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const all = { host: workspace.domain, 'user-agent': browser, ...headers }
  return visit(`http://127.0.0.1:${role.port}${path}`, all, method)
}

const slack = { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
const iphone = {
  'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile Safari/604.1',
}

describe('destinations', () => {
  test("a link's destination for a country applies when a trusted proxy sends the country", async () => {
    const path = await linkWith(sql`geo = '{"DE": "https://example.com/schön"}'`)
    expect((await open(path, { 'cf-ipcountry': 'de' })).headers.location).toBe('https://example.com/sch%C3%B6n')
    expect((await open(path, { 'x-country': 'FR' })).headers.location).toBe('https://example.com/landing')
    expect((await open(path)).headers.location).toBe('https://example.com/landing')
  })

  test('a visitor on iOS gets the iOS destination of a link', async () => {
    const path = await linkWith(sql`ios = 'https://apps.apple.com/app/id1'`)
    expect((await open(path, iphone)).headers.location).toBe('https://apps.apple.com/app/id1')
    expect((await open(path)).headers.location).toBe('https://example.com/landing')
  })

  test('a visitor always gets the same A/B variant, and each variant gets its percentage of visitors', async () => {
    const variants = JSON.stringify([
      { url: 'https://example.com/a', percentage: 80 },
      { url: 'https://example.com/b', percentage: 20 },
    ])
    const path = await linkWith(sql`test_variants = ${variants}::jsonb, test_completed_at = now() + interval '1 day'`)
    const choose = async (visitor: number) => {
      const headers = { 'x-forwarded-for': `198.51.100.${visitor}`, 'user-agent': `${browser} ${visitor}` }
      return (await open(path, headers)).headers.location ?? ''
    }
    const visitors = Array.from({ length: 200 }, (_, visitor) => visitor)
    const chosen = await Promise.all(visitors.map(choose))
    expect(await Promise.all(visitors.map(choose))).toEqual(chosen)
    const first = chosen.filter((location) => location.endsWith('/a')).length
    expect(new Set(chosen)).toEqual(new Set(['https://example.com/a', 'https://example.com/b']))
    expect(first).toBeGreaterThan(135)
    expect(first).toBeLessThan(185)
  })
})

describe('pages', () => {
  const secured = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'strict-origin-when-cross-origin' }

  test('a cloaked link returns a page that frames its destination', async () => {
    const answer = await open(`${await linkWith(sql`rewrite = true, title = '<Shop>'`)}?a=b`)
    expect(answer).toMatchObject({ status: 200, headers: { ...secured, 'cache-control': 'private, no-store' } })
    expect(answer.headers['content-security-policy']).toContain('frame-src http: https:')
    expect(answer.body).toContain('<iframe src="https://example.com/landing?a=b" title="&lt;Shop&gt;"')
    expect(answer.headers['x-robots-tag']).toBe('noindex')
  })

  test('a link to an app returns a page that opens the app', async () => {
    const answer = await open(await linkWith(sql`do_index = true`, 'mailto:a@b.example'))
    expect(answer).toMatchObject({ status: 200, headers: { ...secured, 'content-type': 'text/html; charset=utf-8' } })
    expect(answer.headers.location).toBeUndefined()
    expect(answer.headers['x-robots-tag']).toBeUndefined()
    expect(answer.body).toContain('content="0; url=mailto:a@b.example"')
  })

  test('only crawlers get the preview page of a link', async () => {
    const path = await linkWith(sql`proxy = true, title = 'Spring'`)
    const answer = await open(path, slack)
    expect(answer).toMatchObject({ status: 200, headers: secured })
    expect(answer.body).toContain('<meta property="og:title" content="Spring">')
    expect((await open(path)).status).toBe(302)
  })

  test('a banned link returns 410', async () => {
    const answer = await open(await linkWith(sql`banned_at = now()`))
    expect(answer.status).toBe(410)
    expect(answer.body).toContain('<title>Link blocked</title>')
  })

  test("an error page is in the visitor's language", async () => {
    const answer = await open('/none', { 'accept-language': 'pt-BR,de-AT;q=0.8,en;q=0.5' })
    expect(answer).toMatchObject({ status: 404, headers: { 'content-language': 'de', vary: 'Accept-Language' } })
    expect(answer.body).toContain('<html lang="de">')
    expect(answer.body).toContain('Link nicht gefunden')
  })

  test('HEAD gets the same headers and no body', async () => {
    const [head, get] = [await open('/none', {}, 'HEAD'), await open('/none')]
    expect(head).toMatchObject({ status: 404, body: '' })
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' })
  })

  test('a failed link lookup returns 503 with a page and a Retry-After header', async () => {
    const alone = await start(await openTestPlatform({ ...settings, POSTGRES_URL: 'postgres://127.0.0.1:1/none' }))
    const answer = await visit(`http://127.0.0.1:${alone.port}/x`, { host: 'unknown.example', 'user-agent': browser })
    expect(answer).toMatchObject({ status: 503, headers: { ...secured, 'retry-after': '5' } })
    expect(answer.body).toContain('<title>Try again shortly</title>')
    await alone[Symbol.asyncDispose]()
  })
})

describe("the domain's own URLs", () => {
  test('serve links that are not found or expired', async () => {
    const own = await buildWorkspace(platform)
    await sql`UPDATE domains SET not_found_url = 'https://example.com/lost', expired_url = 'https://example.com/over'
      WHERE slug = ${own.domain}`.execute(platform.db)
    const { id } = await buildLink(platform, own, { key: 'old' })
    await sql`UPDATE links SET expires_at = now() WHERE id = ${id}`.execute(platform.db)
    const at = (path: string) => open(path, { host: own.domain })
    for (const path of ['/', '/none', '/%zz', '/_root']) {
      expect(await at(path)).toMatchObject({ status: 302, headers: { location: 'https://example.com/lost' } })
    }
    expect(await at('/old')).toMatchObject({ status: 302, headers: { location: 'https://example.com/over' } })
  })

  test('serve the app association files and robots.txt, but no icon', async () => {
    const [own, other] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    await sql`UPDATE domains SET asset_links = '[{"a": 1}]', apple_app_site_association = '{"applinks": {}}'
      WHERE slug = ${own.domain}`.execute(platform.db)
    const at = (path: string, method = 'GET', host = own.domain) => open(path, { host }, method)
    expect(await at('/.well-known/assetlinks.json')).toMatchObject({
      status: 200,
      body: '[{"a": 1}]',
      headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
    })
    expect(await at('/.well-known/apple-app-site-association')).toMatchObject({ status: 200, body: '{"applinks": {}}' })
    expect(await at('/.well-known/assetlinks.json', 'POST')).toMatchObject({ status: 405 })
    expect(await at('/.well-known/assetlinks.json', 'GET', other.domain)).toMatchObject({ status: 404, body: '' })
    expect(await at('/robots.txt')).toMatchObject({ status: 200, body: 'User-agent: *\nDisallow:\n' })
    const before = await linkLookups()
    expect(await at('/favicon.ico')).toMatchObject({ status: 404, body: '' })
    expect(await linkLookups()).toBe(before)
  })
})

async function linkLookups(): Promise<number> {
  const { values } = await redirectMetrics(platform).linkLookups.get()
  return values.reduce((sum, { value }) => sum + value, 0)
}
