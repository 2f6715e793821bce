import { createClient } from '@tributary/contract/client'
import { type ClickEvent, clickEvent, click as clickShape, listEvents } from '@tributary/contract/events'
import { type Link, link as linkShape, listLinks } from '@tributary/contract/links'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { hashPartition } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import { createToken } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const now = Date.now()

let workspace: BuiltWorkspace
let link: Link
/** All clicks of the workspace by timestamp and id, oldest first. */
let clicks: RawClick[]
let keys: string[]
let turn = 0

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  const tokens = await Promise.all(
    Array.from({ length: 4 }, () => createToken(platform, { workspaceId: workspace.id, name: 'test' })),
  )
  keys = tokens.map(({ key }) => key)
  link = await buildLink(platform, workspace, { key: 'go', externalId: 'mine' })
  const at = [
    // Four clicks per timestamp, so that clicks with equal timestamps are on different pages.
    ...Array.from({ length: 40 }, (_, index) => now - minuteMs * (1 + Math.floor(index / 4))),
    now - 3 * dayMs,
    now - 20 * dayMs,
    now - 60 * dayMs,
    now - 300 * dayMs,
    Date.parse('2024-03-01T20:00:00.000Z'),
    Date.parse('2024-02-29T23:59:59.999Z'),
  ]
  const target = { number: await findNumber(link.id), workspaceId: workspace.id, url: link.url }
  clicks = at.map((moment) => buildClick(platform, target, { at: moment })).sort(byMomentAndId)
  const bots = [
    buildClick(platform, target, { bot: 'prefetch' }),
    buildClick(platform, target, { userAgent: 'curl/8' }),
  ]
  const subject = clicksSubject(hashPartition(workspace.id, platform.config.EVENT_PARTITIONS))
  // Several inserts, so that clicks with equal timestamps are in different ClickHouse parts.
  const shuffled = clicks.toSorted((a, b) => a.ip.localeCompare(b.ip))
  for (let sent = 0; sent < clicks.length; sent += 12) {
    const message = [...shuffled.slice(sent, sent + 12), ...bots.splice(0, 1)]
    await jetStream(platform.nats).publish(subject, JSON.stringify(message))
    const expected = Math.min(sent + 12, clicks.length)
    await eventually(async () => expect(await ids('interval=all')).toHaveLength(expected), 10_000)
  }
})

function byMomentAndId(a: RawClick, b: RawClick): number {
  return a.at - b.at || Buffer.compare(Buffer.from(a.id, 'base64url'), Buffer.from(b.id, 'base64url'))
}

async function findNumber(id: string): Promise<bigint> {
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return result.rows[0]?.number ?? 0n
}

async function get(query: string, key = keys[turn++ % keys.length]) {
  const response = await fetch(`${api}/events?${query}`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: (await response.json()) as unknown }
}

async function events(query: string): Promise<ClickEvent[]> {
  const { status, body } = await get(query)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as ClickEvent[]
}

async function ids(query: string): Promise<string[]> {
  return (await events(query)).map((event) => event.click.id)
}

const listIds = (some: RawClick[]) => some.map(({ id }) => id)
const since = (from: number, to = Number.POSITIVE_INFINITY) =>
  listIds(clicks.filter(({ at }) => at >= from && at < to)).toReversed()

const refusal = (code: string, message: string) => ({ error: { code, message, doc_url: `${api}/docs/errors/${code}` } })

describe('listEvents', () => {
  it('200: an event has exactly the keys of the specification', async () => {
    const [event] = await events('limit=1')
    expect(Object.keys(event ?? {}).sort()).toEqual(Object.keys(clickEvent.shape).sort())
    expect(Object.keys(event ?? {})).toHaveLength(17)
    expect(Object.keys(event?.click ?? {}).sort()).toEqual(Object.keys(clickShape.shape).sort())
    expect(Object.keys(event?.click ?? {})).toHaveLength(15)
    const linkKeys = Object.keys(linkShape.shape).filter((name) => name !== 'testVariants')
    expect(Object.keys(event?.link ?? {}).sort()).toEqual(linkKeys.sort())
    expect(linkKeys).toHaveLength(50)
  })

  it('200: a click event repeats its click in the deprecated keys', async () => {
    const [event] = await events('limit=1')
    const newest = clicks.at(-1)
    const location = { country: 'Unknown', city: 'Unknown', continent: 'Unknown' }
    const device = { device: 'Desktop', browser: 'Chrome', os: 'Linux' }
    const timestamp = new Date(newest?.at ?? 0).toISOString()
    const same = { url: link.url, ip: newest?.ip.replace(/\d+$/, '0'), ...location, ...device }
    expect(event).toEqual({
      event: 'click',
      timestamp,
      click: {
        ...same,
        id: newest?.id,
        timestamp,
        region: 'Unknown',
        trigger: 'link',
        referer: '(direct)',
        refererUrl: '(direct)',
        qr: false,
      },
      link: expect.objectContaining({
        id: link.id,
        expiresAt: '',
        disabledAt: '',
        testStartedAt: '',
        testCompletedAt: '',
      }),
      click_id: newest?.id,
      link_id: link.id,
      domain: link.domain,
      key: 'go',
      qr: 0,
      ...same,
    })
  })

  it("200: the link's click counter equals the listed clicks, and `lastClicked` is the last one", async () => {
    const call = createClient({ url: api, token: workspace.key })
    const counted = { clicks: clicks.length, lastClicked: new Date(clicks.at(-1)?.at ?? 0).toISOString() }
    const listed = await eventually(async () => {
      const [listed] = await call(listLinks)
      expect(listed).toMatchObject(counted)
      return listed
    })
    const shown = await events('interval=all&limit=1000')
    expect(shown).toHaveLength(clicks.length)
    for (const event of shown) expect(event.link).toEqual(listed)
  })

  it('200: lists the last 24 hours by default, newest first', async () => {
    expect(await ids('')).toEqual(since(now - dayMs))
    const call = createClient({ url: api, token: workspace.key })
    const events = await call(listEvents, { query: {} })
    expect(events.map((event) => event.click.id)).toEqual(since(now - dayMs))
  })

  it.each(['leads', 'sales'])('200: the list is empty without recorded %s', async (event) => {
    expect(await events(`event=${event}&interval=all`)).toEqual([])
  })

  it('200: lists no events of another workspace', async () => {
    const other = await buildWorkspace(platform)
    expect(await get('interval=all', other.key)).toEqual({ status: 200, body: [] })
    expect(await get(`interval=all&linkId=${link.id}`, other.key)).toEqual({ status: 200, body: [] })
  })

  it.each([
    [7, 'sortOrder=desc', false],
    [7, 'sortOrder=asc', true],
    [3, 'order=asc', true],
    [10, 'order=asc&sortOrder=desc', false],
    [13, 'order=desc&sortOrder=asc', true],
    [1000, 'sortBy=timestamp', false],
  ])('200: pages of %i with %s list each click once, in order', async (limit, order, ascending) => {
    const seen: string[] = []
    for (let page = 1; ; page++) {
      const found = await ids(`interval=all&limit=${limit}&page=${page}&${order}`)
      seen.push(...found)
      if (found.length < limit) break
    }
    expect(seen).toEqual(ascending ? listIds(clicks) : listIds(clicks).toReversed())
  })

  it('200: a page past the end is empty', async () => {
    expect(await ids('page=1000')).toEqual([])
    expect(await ids(`page=${Number.MAX_SAFE_INTEGER}&limit=1000`)).toEqual([])
  })

  it.each([
    ['24h', 1],
    ['7d', 3],
    ['30d', 20],
    ['90d', 60],
    ['1y', 300],
    ['all', Number.POSITIVE_INFINITY],
  ])('200: the interval %s', async (interval, oldestDays) => {
    expect(await ids(`interval=${interval}&limit=1000`)).toEqual(since(now - (oldestDays + 0.5) * dayMs))
  })

  it('200: a period includes its start and excludes its end', async () => {
    const [from, to] = [now - 5 * minuteMs, now - 2 * minuteMs]
    const query = (start: number, end: number) =>
      ids(`start=${new Date(start).toISOString()}&end=${new Date(end).toISOString()}`)
    expect(await query(from, to)).toEqual(since(from, to))
    expect(await query(from, to + 1)).toEqual(since(from, to + 1))
    expect(await query(from + 1, to)).toEqual(since(from + 1, to))
    expect(await ids(`start=${new Date(from).toISOString()}`)).toEqual(since(from))
  })

  it.each([
    ['start=2024-03-01&end=2024-03-01', 1],
    ['start=2024-02-29&end=2024-02-29', 1],
    ['start=2024-02-29&end=2024-03-01', 2],
    ['start=2024-03-01&end=2024-03-01&timezone=Asia/Tokyo', 1],
    ['start=2024-03-02&end=2024-03-02&timezone=Asia/Tokyo', 1],
    ['start=2024-02-29&end=2024-02-29&timezone=Asia/Tokyo', 0],
    ['start=2024-02-29&end=2024-02-29&timezone=America/New_York', 1],
    ['start=2024-03-01T20:00:00Z&end=2024-03-01T20:00:01Z', 1],
    ['start=2024-03-01T20:00:00.001Z&end=2024-03-01T20:00:01Z', 0],
    ['start=2024-03-01T15:00:00&end=2024-03-01T15:00:01&timezone=America/New_York', 1],
    ['start=2024-03-01&end=2024-03-01&interval=24h', 1],
  ])('200: %s', async (query, count) => {
    expect(await ids(query)).toHaveLength(count)
  })

  it('200: an end without a start has no effect', async () => {
    expect(await ids('end=2024-03-02&interval=7d')).toEqual(await ids('interval=7d'))
    expect(await ids('end=2024-03-02&interval=7d')).not.toHaveLength(0)
  })

  it('200: start and end can be English phrases', async () => {
    expect(await ids('start=2%20hours%20ago')).toEqual(since(now - 120 * minuteMs))
    expect(await ids('start=30%20days%20ago&end=10%20days%20ago')).toEqual(since(now - 30 * dayMs, now - 10 * dayMs))
  })

  it.each([
    ['limit=abc', '`limit` in the query must be a number, not "abc".'],
    ['page=x', '`page` in the query must be a number, not "x".'],
    ['qr=maybe', '`qr` in the query must be true or false, not "maybe".'],
    ['root=yes', '`root` in the query must be true or false, not "yes".'],
    ['start=2024-01-01&start=2024-01-02', '`start` in the query is given more than once. Send it once.'],
  ])('400: %s', async (query, message) => {
    expect(await get(query)).toEqual({ status: 400, body: refusal('bad_request', message) })
  })

  it('401: with an unknown key', async () => {
    expect(await get('', 'trib_unknown')).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
  })

  it('403: with a key of another scope', async () => {
    const { key } = await buildWorkspace(platform, { scopes: ['links.write'] })
    const message = 'This key lacks the scope analytics.read. Create a key that has it.'
    expect(await get('', key)).toEqual({ status: 403, body: refusal('forbidden', message) })
  })

  it.each(['free', 'pro'] as const)('403: on the plan %s', async (plan) => {
    const { key } = await buildWorkspace(platform, { plan })
    const message = `/events needs the business plan or higher; this workspace has ${plan}.`
    expect(await get('', key)).toEqual({ status: 403, body: refusal('forbidden', message) })
  })

  it.each(['business', 'advanced', 'enterprise'] as const)('200: on the plan %s', async (plan) => {
    const { key } = await buildWorkspace(platform, { plan })
    expect(await get('', key)).toEqual({ status: 200, body: [] })
  })

  it("404: for a link that is not the workspace's", async () => {
    const other = await buildWorkspace(platform)
    await buildLink(platform, other, { key: 'theirs', externalId: 'theirs' })
    for (const [query, name] of [
      [`domain=${workspace.domain}&key=none`, `${workspace.domain}/none`],
      [`domain=${other.domain}&key=theirs`, `${other.domain}/theirs`],
      ['externalId=ext_none', 'ext_none'],
      ['externalId=ext_theirs', 'ext_theirs'],
    ] as const) {
      const message = `There is no link ${name} in this workspace.`
      expect(await get(query)).toEqual({ status: 404, body: refusal('not_found', message) })
    }
  })

  it.each([
    ['limit=1001', /^`limit` in the query must be at most 1000, not 1001\.$/],
    ['limit=0', /^`limit` in the query must be at least 1, not 0\.$/],
    ['limit=1.5', /^`limit` in the query must be a whole number\.$/],
    ['page=0', /^`page` in the query must be at least 1, not 0\.$/],
    ['event=views', /^`event` in the query must be one of `clicks`, `leads`, `sales`, not "views"\.$/],
    ['interval=2d', /^`interval` in the query must be one of `24h`, .*`all`, not "2d"\.$/],
    ['sortOrder=up', /^`sortOrder` in the query must be one of `asc`, `desc`, not "up"\.$/],
    ['sortBy=country', /^`sortBy` in the query must be one of `timestamp`, not "country"\.$/],
    ['saleType=old', /^`saleType` in the query must be one of `new`, `recurring`, not "old"\.$/],
    ['timezone=Mars/Base', /^`timezone` in the query: .*"Mars\/Base" is unknown\. Use an IANA name such as/],
    ['event=leads&timezone=Mars/Base', /^`timezone` in the query: /],
    ['start=nonsense', /^`start` in the query: .*"nonsense" can't be read as a date or time\./],
    ['end=2024-13-01', /^`end` in the query: .*"2024-13-01" can't be read as a date or time\./],
    ['start=2024-02-02&end=2024-02-01', /^`end` in the query: .* must be after start/],
    ['start=2290-01-01', /^`start` in the query: .* is in the future/],
    ['key=go', /^`key` in the query must be used together with `domain`\.$/],
    ['externalId=mine', /^`externalId` in the query must start with `ext_`\.$/],
    [`query=${'a'.repeat(10_001)}`, /^`query` in the query must be at most 10000 characters long, not 10001\.$/],
    ['city=%00', /^`city` in the query must not contain the character U\+0000/],
  ])('422: %s', async (query, message) => {
    const { status, body } = await get(query)
    expect(status).toBe(422)
    expect(body).toEqual(refusal('unprocessable_entity', expect.stringMatching(message) as unknown as string))
  })

  it("429: after the business plan's four requests per second", async () => {
    const { key } = await buildWorkspace(platform, { plan: 'business' })
    const answers = await Promise.all(Array.from({ length: 6 }, () => get('', key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(2)
    const message = 'The business plan allows 4 requests per second here. Try again in 1 s.'
    expect(refused[0]?.body).toEqual(refusal('rate_limit_exceeded', message))
  })
})
