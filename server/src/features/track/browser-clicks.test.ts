import { Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Link } from '@tributary/contract/links'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { seal } from '../../platform/seal.ts'
import { clickKeys, readClickId } from '../click-ids/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

type Answer = { status: number; headers: Headers; body: Record<string, unknown> }

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${api}/track/${path}`, {
    method: 'POST',
    headers: { 'user-agent': browser, 'content-type': 'text/plain', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] }
}

async function prepare(
  given: Parameters<typeof buildLink>[2] = {},
): Promise<{ workspace: BuiltWorkspace; link: Link }> {
  const workspace = await buildWorkspace(platform)
  return { workspace, link: await buildLink(platform, workspace, { key: 'spring', ...given }) }
}

type Stored = { trigger: string; url: string; bot: string; referer: string; clicks: string }

/** The clicks of a workspace that the worker has stored in ClickHouse. */
async function storedClicks(workspaceId: string): Promise<Stored[]> {
  const result = await platform.clickhouse.query({
    query: `SELECT trigger, url, bot, referer, toString(count()) AS clicks FROM click_events
      WHERE workspace_id = {workspaceId: String} GROUP BY trigger, url, bot, referer ORDER BY trigger`,
    query_params: { workspaceId },
    format: 'JSONEachRow',
  })
  return result.json<Stored>()
}

describe('POST /track/click', () => {
  // Retried once, because a click id changes when a new hour begins between the two requests.
  test('a page and the redirect give a click the same id, so that it counts once', { retry: 1 }, async () => {
    const { workspace, link } = await prepare({ trackConversion: true })
    const { body } = await post('click', { domain: link.domain, key: link.key })
    const host = { host: link.domain, 'user-agent': browser }
    const { headers } = await visit(`${redirect}/${link.key}`, host)
    expect(new URL(headers.location ?? '').searchParams.get('trib_id')).toBe(body.clickId)
    // Clicks of a workspace are ingested in order: when this later click is stored, all earlier ones are too.
    await post('click', { domain: link.domain, key: link.key }, { 'user-agent': `${browser} other` })
    await eventually(async () => {
      const info = `${api}/links/info?linkId=${link.id}`
      const counted = await fetch(info, { headers: { authorization: `Bearer ${workspace.key}` } })
      expect(await counted.json()).toMatchObject({ clicks: 2 })
    })
    expect(await storedClicks(workspace.id)).toMatchObject([{ clicks: '2' }])
  })

  test("a click from a page has the page's URL without the click id, and the visitor's referrer", async () => {
    const { workspace, link } = await prepare()
    const url = 'https://shop.example/landing?a=b&trib_id=old#top'
    const referrer = 'https://www.search.example/?q=shoes'
    const { status, body } = await post('click', { domain: `www.${link.domain}`, key: 'SPRING', url, referrer })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['clickId'])
    expect(readClickId(clickKeys(platform.config), body.clickId as string)).not.toBeNull()
    await eventually(async () =>
      expect(await storedClicks(workspace.id)).toEqual([
        {
          trigger: 'link',
          url: 'https://shop.example/landing?a=b#top',
          bot: '',
          referer: 'search.example',
          clicks: '1',
        },
      ]),
    )
  })

  test("a click with an invalid page URL gets the link's destination as its URL", async () => {
    const { workspace, link } = await prepare()
    await post('click', { domain: link.domain, key: link.key, url: 'javascript:alert(1)' })
    await eventually(async () => expect(await storedClicks(workspace.id)).toMatchObject([{ url: link.url }]))
  })

  test('a bot gets the same click id each time, and its click is stored as a bot', { retry: 1 }, async () => {
    const { workspace, link } = await prepare()
    const click = () => post('click', { domain: link.domain, key: link.key }, { 'user-agent': crawler })
    const [first, second] = [await click(), await click()]
    expect(first.body).toEqual(second.body)
    await eventually(async () => expect(await storedClicks(workspace.id)).toMatchObject([{ bot: 'user-agent' }]))
  })

  test('the key _root is the link of the bare domain', async () => {
    const { link } = await prepare({ key: '_root' })
    expect((await post('click', { domain: link.domain, key: '_root' })).status).toBe(200)
  })

  test.each([
    ['unknown', sql`title = NULL`],
    ['spring', sql`disabled_at = now()`],
    ['spring', sql`banned_at = now()`],
    ['spring', sql`expires_at = now() - interval '1 minute'`],
  ])('a click on an unknown or inactive link gets 404: %s', async (key, change) => {
    const { link } = await prepare()
    await sql`UPDATE links SET ${change} WHERE id = ${link.id}`.execute(platform.db)
    expect(await post('click', { domain: link.domain, key })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: `There is no active public link "${link.domain}/${key}".` } },
    })
  })

  test('a click on a link with a password gets 404, to hide its clicks and destination', async () => {
    const { link } = await prepare()
    const sealed = seal(platform.config.ENCRYPTION_KEYS, link.id, 'open sesame')
    await sql`UPDATE links SET sealed_password = ${sealed} WHERE id = ${link.id}`.execute(platform.db)
    expect((await post('click', { domain: link.domain, key: link.key })).status).toBe(404)
    expect((await post('open', { deepLink: link.shortLink })).status).toBe(404)
  })

  test.each([
    [{}, 400, '`domain` in the body'],
    [{ domain: 'go.example' }, 400, '`key` in the body'],
    ['{', 400, 'The body is not valid JSON'],
  ])('a click with the body %j is refused', async (body, status, message) => {
    const answer = await post('click', body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ error: { message: expect.stringContaining(message) } })
  })
})

describe('clicks from pages on allowed hostnames', () => {
  test.each<[Record<string, string>, number]>([
    [{ referer: 'https://www.shop.example/page' }, 200],
    [{ origin: 'https://shop.example' }, 200],
    [{ referer: 'https://a.sub.example/' }, 200],
    [{ referer: 'https://sub.example/' }, 403],
    [{ referer: 'https://evil.example/', origin: 'https://shop.example' }, 403],
    [{ referer: 'https://shop.example.evil.example/' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 403],
  ])('%j: %i', async (headers, status) => {
    const { workspace, link } = await prepare()
    await changeWorkspace(platform, workspace.id, { allowed_hostnames: ['shop.example', '*.sub.example'] })
    const click = await post('click', { domain: link.domain, key: link.key }, headers)
    expect(click.status).toBe(status)
    expect(click.headers.get('access-control-allow-origin')).toBe('*')
    const view = await post('visit', { domain: link.domain, url: `https://${link.domain}/${link.key}` }, headers)
    expect(view.status).toBe(status)
    if (status === 403) expect(click.body).toMatchObject({ error: { code: 'forbidden' } })
  })
})

describe('POST /track/visit', () => {
  test("a visit is a page view of the link at the URL's path", async () => {
    const { workspace, link } = await prepare()
    const url = `https://${link.domain}/Spring/?a=b`
    const { status, body } = await post('visit', { domain: link.domain, url })
    expect(status).toBe(200)
    expect(body).toEqual({ clickId: expect.stringMatching(/^[\w-]{40}$/) })
    await eventually(async () => expect(await storedClicks(workspace.id)).toMatchObject([{ trigger: 'pageview', url }]))
  })

  test('a visit of a URL without a path belongs to the link of the bare domain', async () => {
    const { link } = await prepare({ key: '_root' })
    expect((await post('visit', { domain: link.domain, url: `https://${link.domain}` })).status).toBe(200)
  })

  test.each([
    [{ domain: 'go.example' }, 400],
    [{ domain: 'go.example', url: 'nowhere' }, 422],
  ])('%j: %i', async (body, status) => expect((await post('visit', body)).status).toBe(status))
})

describe('POST /track/open', () => {
  test('an app that was opened by a deep link gets the click id and the link', async () => {
    const { workspace, link } = await prepare()
    await changeWorkspace(platform, workspace.id, { allowed_hostnames: ['shop.example'] })
    expect(await post('open', { deepLink: `${link.shortLink}?x=y` })).toMatchObject({
      status: 200,
      body: {
        clickId: expect.stringMatching(/^[\w-]{40}$/),
        link: { id: link.id, domain: link.domain, key: link.key, url: link.url },
      },
    })
    await eventually(async () => expect(await storedClicks(workspace.id)).toMatchObject([{ trigger: 'link' }]))
  })

  test.each([
    [{ deepLink: 'https://unknown.example/x' }, 404],
    [{ deepLink: 'no address' }, 422],
    [{}, 400],
  ])('%j: %i', async (body, status) => expect((await post('open', body)).status).toBe(status))

  test('without a deep link, an app gets no click: visitors are not matched by IP address', async () => {
    const { link } = await prepare()
    expect(await post('open', { dubDomain: link.domain })).toMatchObject({
      status: 200,
      body: { clickId: null, link: null },
    })
  })
})

describe('requests from pages of other sites', () => {
  test.each(['click', 'visit', 'open', 'lead', 'sale'])('/track/%s allows cross-origin requests', async (path) => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
    const response = await fetch(`${api}/track/${path}`, { method: 'OPTIONS', headers })
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST,OPTIONS',
      'access-control-allow-headers': expect.stringMatching(/Content-Type,\s*Authorization/),
      'access-control-max-age': '86400',
    })
  })

  test("a cross-origin page can read an error response, with the visitor's rate limit", async () => {
    const { status, headers } = await post('click', { domain: 'unknown.example', key: 'x' })
    expect(status).toBe(404)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('x-ratelimit-limit')).toBe('600')
  })

  test('more than 600 requests per minute from one client address get 429', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 8, localAddress: '127.0.0.77' })
    const track = () =>
      new Promise<{ status: number | undefined; origin: unknown; body: unknown }>((resolve, reject) => {
        request(`${api}/track/open`, { agent, method: 'POST' }, async (response) => {
          const { statusCode: status, headers } = response
          resolve({ status, origin: headers['access-control-allow-origin'], body: await json(response) })
        })
          .on('error', reject)
          .end('{"dubDomain":"go.example"}')
      })
    const answers = await Promise.all(Array.from({ length: 605 }, track))
    agent.destroy()
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    const message = expect.stringMatching(/^600 requests per minute are allowed here\. Try again in \d+ s\.$/)
    expect(refused[0]).toMatchObject({ origin: '*', body: { error: { code: 'rate_limit_exceeded', message } } })
    expect((await post('open', { dubDomain: 'go.example' })).status).toBe(200)
  })

  test('other operations do not allow cross-origin requests', async () => {
    const response = await fetch(`${api}/links`, { headers: { origin: 'https://shop.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})
