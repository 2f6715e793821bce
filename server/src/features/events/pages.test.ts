import { type ClickEvent, eventsQuery } from '@tributary/contract/events'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, leadRow, type NewEvents, saleRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { openRandom, type Random } from '../../../test/random.ts'
import { sized } from '../../../test/size.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { sleep } from '../../platform/clock.ts'
import { deleteLink, linkNumbers } from '../links/service.ts'
import { listEvents } from './service.ts'
import { pageStatement } from './store.ts'
import { buildWhere, type EventKind } from './where.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const kinds = ['clicks', 'leads', 'sales'] as const
const eachKind = 300
const hourMs = 3_600_000
const began = Date.now() - 60_000

type Stored = { at: number; id: string; linkId: string; country: string; os: string; trigger: string }
const stored: Record<EventKind, Stored[]> = { clicks: [], leads: [], sales: [] }
let workspace: BuiltWorkspace
let links: { id: string; number: bigint }[]

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  const made = await Promise.all([1, 2, 3].map(() => buildLink(platform, workspace)))
  links = await Promise.all(made.map(async ({ id }) => ({ id, number: await findNumber(workspace, id) })))
  const random = openRandom(6)
  for (let batch = 0; batch < 4; batch++) {
    // Few distinct timestamps, so that events with equal timestamps are on different pages.
    const at = () => began - hourMs * (1 + random.below(20)) - random.below(3)
    await storeEvents(
      platform,
      someEvents(random, eachKind / 4, at, 'link', (kind, event) => stored[kind].push(event)),
    )
  }
})

async function findNumber({ id: workspaceId }: { id: string }, linkId: string): Promise<bigint> {
  const [number] = await linkNumbers(contextIn(platform, workspaceId), { ids: [linkId] })
  return number as bigint
}

function someEvents(
  random: Random,
  count: number,
  at: () => number,
  trigger: string,
  onEvent: (kind: EventKind, event: Stored) => void = () => {},
): NewEvents {
  const events: NewEvents = { clicks: [], leads: [], sales: [] }
  for (let index = 0; index < count; index++) {
    for (const kind of kinds) {
      const link = random.pick(links)
      const owner = { workspaceId: workspace.id, linkNumber: link.number }
      const facts = { country: random.pick(['DE', 'FR', 'US']), os: random.pick(['iOS', 'Linux']), trigger }
      const given = { timestamp: at(), ...facts }
      const row = { clicks: clickRow, leads: leadRow, sales: saleRow }[kind](owner, given)
      events[kind].push(row as never)
      const id = kind === 'clicks' && 'id_text' in row ? row.id_text : (row as { id: string }).id
      onEvent(kind, { at: given.timestamp, id, linkId: link.id, ...facts })
    }
  }
  return events
}

const byOrder = (a: Stored, b: Stored) => a.at - b.at || (bytes(a.id) < bytes(b.id) ? -1 : 1)
const bytes = (id: string) => (id.startsWith('evt_') ? id : Buffer.from(id, 'base64url').toString('hex'))

async function page(given: Record<string, unknown>) {
  const { events, next } = await listEvents(contextIn(platform, workspace.id), eventsQuery.parse(given))
  return { ids: events.map((event) => (event.event === 'click' ? event.click.id : event.eventId)), next }
}

describe('reading pages while events arrive', () => {
  test('1,000 random walks list each event exactly once, in order', async () => {
    const stopping = new AbortController()
    const arriving = (async () => {
      const random = openRandom(7)
      while (!stopping.signal.aborted) {
        await storeEvents(
          platform,
          someEvents(random, 2, () => Date.now(), 'link'),
        )
        await storeEvents(
          platform,
          someEvents(random, 2, () => began - hourMs * random.below(20), 'late'),
        )
        await sleep(300, stopping.signal)
      }
    })()
    try {
      const walks = Array.from({ length: sized({ short: 150, full: 1_000 }) }, (_, index) => index)
      await Promise.all(
        Array.from({ length: 6 }, async () => {
          for (let walk = walks.pop(); walk !== undefined; walk = walks.pop()) await check(walk)
        }),
      )
    } finally {
      stopping.abort()
      await arriving
    }
  }, 400_000)

  async function check(seed: number): Promise<void> {
    const random = openRandom(seed * 7919 + 1)
    const kind = random.pick([...kinds])
    const ascending = random.chance(0.5)
    const byCursor = random.chance(0.5)
    const filters: { given: Record<string, string>; fits: (event: Stored) => boolean }[] = [
      { given: {}, fits: () => true },
      { given: { country: 'DE' }, fits: ({ country }) => country === 'DE' },
      { given: { country: '-DE,FR' }, fits: ({ country }) => country === 'US' },
      { given: { os: 'iOS,Linux' }, fits: () => true },
      { given: { linkId: links[0]?.id ?? '' }, fits: ({ linkId }) => linkId === links[0]?.id },
      {
        given: { linkId: `-${links[1]?.id}`, os: 'iOS' },
        fits: (one) => one.linkId !== links[1]?.id && one.os === 'iOS',
      },
    ]
    const { given, fits } = random.pick(filters)
    const limit = 30 + random.below(random.chance(0.2) ? 970 : 150)
    const asked = { event: kind, ...given, limit, sortOrder: ascending ? 'asc' : 'desc' }
    const expected = stored[kind].filter(fits).sort(byOrder)
    if (!ascending) expected.reverse()
    const seen: string[] = []
    if (byCursor) {
      // New events may appear, but no event appears twice and no earlier event is missing.
      for (let cursor: string | undefined; ; ) {
        const { ids, next } = await page({ ...asked, interval: '30d', ...(cursor && { cursor }) })
        seen.push(...ids)
        cursor = next
        if (ids.length < limit) break
      }
      expect(new Set(seen).size).toBe(seen.length)
    } else {
      // New events would shift the pages, so fix the end and exclude late events by their trigger.
      const end = new Date(began).toISOString()
      for (let number = 1; ; number++) {
        const { ids } = await page({ ...asked, start: '30 days ago', end, trigger: 'link', page: number })
        seen.push(...ids)
        if (ids.length < limit) break
      }
    }
    const known = new Set(stored[kind].map(({ id }) => id))
    expect(seen.filter((id) => !byCursor || known.has(id))).toEqual(expected.map(({ id }) => id))
  }
})

describe('cursor', () => {
  const get = (given: Record<string, string>, key = workspace.key) =>
    fetch(`${api}/events?${new URLSearchParams(given)}`, { headers: { authorization: `Bearer ${key}` } })

  test('newest first, the Link header has a cursor until the last page', async () => {
    const seen: string[] = []
    let url: string | undefined =
      `${api}/events?event=leads&interval=7d&limit=70&trigger=link&end=1%20minute%20ago&page=1`
    for (let pages = 1; url; pages++) {
      const response: Response = await fetch(url, { headers: { authorization: `Bearer ${workspace.key}` } })
      const events = (await response.json()) as { eventId: string }[]
      seen.push(...events.map(({ eventId }) => eventId))
      url = /^<(.+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      expect(response.headers.has('x-next-cursor')).toBe(url !== undefined)
      if (url) expect(new URL(url).searchParams.has('page')).toBe(false)
      expect(pages).toBeLessThan(50)
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(stored.leads.map(({ id }) => id)))
  })

  test('oldest first, the cursor of the last page returns new events later', async () => {
    const other = await buildWorkspace(platform)
    const link = await buildLink(platform, other)
    const owner = { workspaceId: other.id, linkNumber: await findNumber(other, link.id) }
    const ask = async (cursor: string | null) => {
      const response = await get({ sortOrder: 'asc', ...(cursor && { cursor }) }, other.key)
      return { events: (await response.json()) as unknown[], next: response.headers.get('x-next-cursor') }
    }
    const nothing = await ask(null)
    expect(nothing.events).toEqual([])
    await storeEvents(platform, { clicks: [clickRow(owner)] })
    const one = await ask(nothing.next)
    expect(one.events).toHaveLength(1)
    expect((await ask(one.next)).events).toEqual([])
    await storeEvents(platform, { clicks: [clickRow(owner), clickRow(owner)] })
    expect((await ask((await ask(one.next)).next)).events).toHaveLength(0)
    expect((await ask(one.next)).events).toHaveLength(2)
  })

  test('a cursor is refused with another kind of event, order, page or workspace', async () => {
    const cursor = (await get({ limit: '1', interval: 'all' })).headers.get('x-next-cursor') ?? ''
    const message = async (given: Record<string, string>, key?: string) => {
      const response = await get({ limit: '1', interval: 'all', cursor, ...given }, key)
      const body = (await response.json()) as { error?: { message: string } }
      return `${response.status} ${body.error?.message}`
    }
    expect(await message({ country: 'DE' })).toBe('200 undefined')
    const belongs = '422 `cursor` in the query belongs to `event=clicks` and `sortOrder=desc`'
    expect(await message({ event: 'leads' })).toContain(belongs)
    expect(await message({ sortOrder: 'asc' })).toContain(belongs)
    expect(await message({ page: '2' })).toBe("422 `page` in the query can't be used together with `cursor`.")
    expect(await message({ cursor: 'nonsense' })).toContain('422 `cursor` in the query does not come from')
    const other = await buildWorkspace(platform)
    expect(await message({}, other.key)).toContain('422 `cursor` in the query does not come from')
  })
})

test('ClickHouse reads only the sort columns of skipped events', async () => {
  const where = buildWhere(workspace.id, { from: new Date(0), to: new Date() }, { hiddenFolders: [] }, 'clicks')
  const values = { ...where.values, limit: 100, offset: 100_000 }
  const statement = pageStatement('clicks', where, { ascending: false, limit: 100 })
  const rows = await query<{ explain: string }>(platform.clickhouse, `EXPLAIN ${statement}`, values)
  const plan = rows.map(({ explain }) => explain).join('\n')
  const lazily = /Lazily read columns:(.*)/.exec(plan)?.[1] ?? plan
  for (const column of ['url', 'referer_url', 'city', 'browser', 'ip', 'link_number']) expect(lazily).toContain(column)
  expect(plan).toContain('InReverseOrder')
})

test('events of deleted links and of links that PostgreSQL lost keep their domain and key in lists and exports', async () => {
  const other = await buildWorkspace(platform)
  const [deleted, lost] = [
    await buildLink(platform, other, { key: 'Deleted' }),
    await buildLink(platform, other, { key: 'Lost/ä' }),
  ]
  const numbers = [await findNumber(other, deleted.id), await findNumber(other, lost.id)]
  const known = "SELECT link_id FROM link_attributes FINAL WHERE workspace_id = {id:String} AND link_id != ''"
  await eventually(
    async () => expect(await query(platform.clickhouse, known, { id: other.id })).toHaveLength(2),
    20_000,
  )
  await storeEvents(platform, { clicks: numbers.map((linkNumber) => clickRow({ workspaceId: other.id, linkNumber })) })
  await deleteLink(contextIn(platform, other.id), deleted.id)
  await sql`DELETE FROM links WHERE id = ${lost.id}`.execute(platform.db)
  const headers = { authorization: `Bearer ${other.key}` }
  const events = (await (await fetch(`${api}/events`, { headers })).json()) as ClickEvent[]
  const lines = (await (await fetch(`${api}/events/export?format=ndjson`, { headers })).text()).trimEnd().split('\n')
  for (const link of [deleted, lost]) {
    const { id, domain, key, shortLink } = link
    const event = events.find((event) => event.link_id === id)
    expect(event).toMatchObject({ domain, key, link: { id, domain, key, shortLink } })
    const row = lines.map((line) => JSON.parse(line)).find((row) => row.linkId === id)
    expect(row).toMatchObject({ domain, key, shortLink })
  }
})

test('events of lost and deleted links do not shorten a page', async () => {
  const other = await buildWorkspace(platform)
  const [remaining, deleted] = [await buildLink(platform, other), await buildLink(platform, other)]
  const numbers = [await findNumber(other, remaining.id), 4_000_000_000n, await findNumber(other, deleted.id)]
  const rows = numbers.map((linkNumber) => ({ workspaceId: other.id, linkNumber }))
  await storeEvents(platform, { clicks: rows.map((row) => clickRow(row)), sales: rows.map((row) => saleRow(row)) })
  await sql`UPDATE links SET deleted_at = now() WHERE id = ${deleted.id}`.execute(platform.db)
  for (const event of kinds.filter((kind) => kind !== 'leads')) {
    const response = await fetch(`${api}/events?event=${event}`, { headers: { authorization: `Bearer ${other.key}` } })
    expect(response.status, await response.clone().text()).toBe(200)
    const events = (await response.json()) as { link: Record<string, unknown>; link_id: string; domain: string }[]
    expect(events.map(({ link }) => link.id).sort()).toEqual([remaining.id, deleted.id, 'link_deleted'].sort())
    const placeholder = events.find(({ link }) => link.id === 'link_deleted')
    expect(placeholder).toMatchObject({
      link_id: 'link_deleted',
      domain: '',
      link: { url: 'https://example.com/landing' },
    })
    const known = events.find(({ link }) => link.id === remaining.id)
    expect(Object.keys(placeholder?.link ?? {})).toEqual(Object.keys(known?.link ?? {}))
  }
})
