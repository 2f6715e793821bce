import { randomInt, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { mmdb } from '../../../test/mmdb.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import { openGeo } from '../../platform/geo.ts'
import { jetStream } from '../../platform/nats.ts'
import { parseRanges } from '../../platform/ranges.ts'
import type { RawClick } from '../redirect/messages.ts'
import { type LogMessage, PartitionLost } from './batch.ts'
import { claim, finish, ingest, prepare, release, renew, store } from './service.ts'
import type { Holder } from './store.ts'

const engines = await startEngines({ only: ['valkey'] })
const platform = await openTestPlatform(engines.urls)
afterAll(() => engines.stop())

type TestLink = { number: bigint; id: string; workspaceId: string; url: string }

async function someLink(): Promise<TestLink> {
  const workspace = await buildWorkspace(platform)
  const { id, url } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return { id, url, workspaceId: workspace.id, number: result.rows[0]?.number ?? 0n }
}

/** A partition that no other worker uses. */
const newHolder = (partition = randomInt(1_000, 2 ** 31)): Holder => ({ partition, owner: randomUUID() })

async function takeOver({ partition }: Holder) {
  await sql`UPDATE ingest_cursors SET leased_until = '-infinity' WHERE partition = ${partition}`.execute(platform.db)
  const holder = newHolder(partition)
  const cursor = await claim(platform, holder)
  if (!cursor) throw new Error('The partition should have been unowned')
  return { holder, cursor }
}

async function countRows(link: TestLink): Promise<{ people: number; bots: number }> {
  const [counts] = await query<{ people: string; bots: string }>(
    platform.clickhouse,
    `SELECT countIf(bot = '') AS people, countIf(bot != '') AS bots FROM click_events
     WHERE workspace_id = {workspaceId:String} AND link_number = {linkNumber:UInt64}`,
    { workspaceId: link.workspaceId, linkNumber: link.number },
  )
  return { people: Number(counts?.people), bots: Number(counts?.bots) }
}

async function readCounter(link: TestLink): Promise<{ clicks: number; last: number }> {
  const result = await sql<{ clicks: bigint; last_clicked: Date | null }>`
    SELECT clicks, last_clicked FROM link_counters WHERE link_number = ${link.number}`.execute(platform.db)
  return { clicks: Number(result.rows[0]?.clicks), last: result.rows[0]?.last_clicked?.getTime() ?? 0 }
}

async function readCursor({ partition }: Holder) {
  const result = await sql<{ sequence: bigint; intent: unknown; owner: string | null }>`
    SELECT sequence, intent, owner FROM ingest_cursors WHERE partition = ${partition}`.execute(platform.db)
  return result.rows[0]
}

async function deadLetters({ partition }: Holder): Promise<unknown[]> {
  const consumer = await jetStream(platform.nats).consumers.get('DEAD_LETTERS', {
    filter_subjects: [`dead.events.${partition}`],
  })
  const letters: unknown[] = []
  const { num_pending: pending } = await consumer.info(true)
  if (pending === 0) return letters
  for await (const message of await consumer.fetch({ max_messages: pending, expires: 2_000 })) {
    letters.push(message.json())
  }
  return letters
}

const buildLog = (...bodies: unknown[]): LogMessage[] => bodies.map((body, index) => ({ sequence: index + 1, body }))

/** A proxy of a database client with one method replaced. */
function withMethod<T extends object>(handle: T, name: keyof T, replacement: unknown): T {
  return new Proxy(handle, {
    get(target, property) {
      const value = property === name ? replacement : Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('a batch', () => {
  test('is stored as one row per click, updates the link counters, and moves the cursor', async () => {
    const [first, second] = [await someLink(), await someLink()]
    const holder = newHolder()
    expect(await claim(platform, holder)).toEqual({ sequence: 0, intent: null, stream: '', arrivedAt: null })
    const at = Date.now()
    const messages = buildLog(
      [buildClick(platform, first, { at: at - 2_000 }), buildClick(platform, second, { at: at - 1_000 })],
      [],
      [buildClick(platform, first, { at }), buildClick(platform, first, { at: at - 3_000 })],
    )
    expect(await ingest(platform, holder, 0, messages)).toBe(3)
    expect(await countRows(first)).toEqual({ people: 3, bots: 0 })
    expect(await countRows(second)).toEqual({ people: 1, bots: 0 })
    expect(await readCounter(first)).toEqual({ clicks: 3, last: at })
    expect(await readCounter(second)).toEqual({ clicks: 1, last: at - 1_000 })
    expect(await readCursor(holder)).toMatchObject({ sequence: 3n, intent: null, owner: holder.owner })
  })

  test('stores all columns of each click', async () => {
    const link = await someLink()
    const holder = newHolder()
    await claim(platform, holder)
    const click = buildClick(platform, link, {
      url: 'https://example.com/?utm_source=mail&utm_term=a',
      ip: '2001:db8::7',
      referer: 'https://www.example.org/x',
      country: 'US',
      region: 'CA',
      city: 'Oakland',
      trigger: 'qr',
    })
    await ingest(platform, holder, 0, buildLog([click]))
    const rows = await query(
      platform.clickhouse,
      `SELECT workspace_id, toUnixTimestamp64Milli(timestamp) AS at, base64URLEncode(id) AS id, url, trigger, toString(ip) AS ip, country,
       region, city, continent, device, browser, os, referer, referer_url, utm_source, utm_term, bot
       FROM click_events WHERE workspace_id = {workspaceId:String}`,
      { workspaceId: link.workspaceId },
    )
    expect(rows).toEqual([
      {
        workspace_id: link.workspaceId,
        at: click.at,
        id: click.id,
        url: click.url,
        trigger: 'qr',
        ip: '2001:db8::7',
        country: 'US',
        region: 'US-CA',
        city: 'Oakland',
        continent: 'NA',
        device: 'Desktop',
        browser: 'Chrome',
        os: 'Linux',
        referer: 'example.org',
        referer_url: 'https://www.example.org/x',
        utm_source: 'mail',
        utm_term: 'a',
        bot: '',
      },
    ])
  })

  test('counts a visitor once an hour, and stores bots without counting them', async () => {
    const link = await someLink()
    const holder = newHolder()
    await claim(platform, holder)
    const hourStart = Math.floor(Date.now() / 3_600_000) * 3_600_000
    const visitor = { ip: '198.51.100.1', at: hourStart - 1_000 }
    const click = (given: Partial<RawClick>) => buildClick(platform, link, { ...visitor, ...given })
    await ingest(platform, holder, 0, buildLog([click({}), click({ at: hourStart - 500 })], [click({ bot: 'head' })]))
    const more = [
      click({ at: hourStart - 100 }),
      click({ at: hourStart }),
      click({ userAgent: 'curl/8' }),
      click({ bot: 'head' }),
    ]
    await ingest(platform, holder, 2, [{ sequence: 3, body: more }])
    expect(await countRows(link)).toEqual({ people: 2, bots: 2 })
    expect(await readCounter(link)).toEqual({ clicks: 2, last: hourStart })
  })

  test('stores clicks of a deleted link without counting them', async () => {
    const holder = newHolder()
    await claim(platform, holder)
    const deleted = { ...(await someLink()), number: 2n ** 62n }
    expect(await ingest(platform, holder, 0, buildLog([buildClick(platform, deleted)]))).toBe(1)
    expect(await countRows(deleted)).toEqual({ people: 1, bots: 0 })
  })
})

describe('an invalid event', () => {
  test('becomes a dead letter with its reason and log position, and blocks no other event', async () => {
    const link = await someLink()
    const holder = newHolder()
    await claim(platform, holder)
    const good = buildClick(platform, link)
    const forged = { ...good, id: good.id.slice(0, -1) + (good.id.endsWith('A') ? 'B' : 'A') }
    const otherLink = { ...good, linkNumber: String(link.number + 1n) }
    const halfTime = { ...good, at: good.at + 0.5 }
    const { url: _, ...incomplete } = good
    const messages = buildLog('no json', null, [forged, good, 7, incomplete], {}, [otherLink, [], halfTime])
    expect(await ingest(platform, holder, 0, messages)).toBe(5)
    expect(await deadLetters(holder)).toEqual([
      { reason: 'malformed', sequence: 1, index: 0, body: 'no json' },
      { reason: 'malformed', sequence: 2, index: 0, body: null },
      { reason: 'forged_click_id', sequence: 3, index: 0, body: forged },
      { reason: 'malformed', sequence: 3, index: 2, body: 7 },
      { reason: 'malformed', sequence: 3, index: 3, body: incomplete },
      { reason: 'malformed', sequence: 4, index: 0, body: {} },
      { reason: 'forged_click_id', sequence: 5, index: 0, body: otherLink },
      { reason: 'malformed', sequence: 5, index: 1, body: [] },
      { reason: 'malformed', sequence: 5, index: 2, body: halfTime },
    ])
    expect(await countRows(link)).toEqual({ people: 1, bots: 0 })
    expect(await readCounter(link)).toMatchObject({ clicks: 1 })
  })

  test('is truncated when it is too large for a dead letter', async () => {
    const link = await someLink()
    const holder = newHolder()
    await claim(platform, holder)
    expect(await ingest(platform, holder, 0, buildLog('"'.repeat(1_000_000), [buildClick(platform, link)]))).toBe(2)
    const [letter] = (await deadLetters(holder)) as { reason: string; sequence: number; body: string }[]
    expect(letter).toMatchObject({ reason: 'malformed', sequence: 1 })
    expect(letter?.body).toMatch(/^"+…$/)
    expect(await countRows(link)).toEqual({ people: 1, bots: 0 })
  })

  test.each<[string, Partial<RawClick>]>([
    ['an invalid address', { ip: 'unknown' }],
    ['an address with a zone', { ip: 'fe80::1%eth0' }],
    ['no address', { ip: '' }],
    ['half a surrogate pair', { url: 'https://example.com/\ud800', city: '\ud83d', country: 'US' }],
    ['control characters', { url: 'https://example.com/\0\n\t', city: 'a\0b', country: 'US' }],
    ['a city cut inside a character', { city: `${'a'.repeat(99)}\u{1F600}`, country: 'US' }],
    ['a very long destination', { url: `https://example.com/?${'a'.repeat(100_000)}` }],
    ['the last moment', { at: Date.UTC(2299, 11, 30) }],
    ['the first moment', { at: 0 }],
  ])('a click with %s is stored all the same', async (_name, given) => {
    const link = await someLink()
    const holder = newHolder()
    await claim(platform, holder)
    expect(await ingest(platform, holder, 0, buildLog([buildClick(platform, link, given)]))).toBe(1)
    expect(await countRows(link)).toEqual({ people: 1, bots: 0 })
    expect(await readCounter(link)).toMatchObject({ clicks: 1 })
  })
})

describe('ingest settings', () => {
  const shown = (config: Partial<Platform['config']>, given: Partial<RawClick>) =>
    storedWith({ ...platform, config: { ...platform.config, ...config } }, given)

  async function storedWith(platform: Platform, given: Partial<RawClick>) {
    const link = await someLink()
    const holder = newHolder()
    await claim(platform, holder)
    await ingest(platform, holder, 0, buildLog([buildClick(platform, link, given)]))
    const [row] = await query<{ ip: string; bot: string; country: string }>(
      platform.clickhouse,
      'SELECT toString(ip) AS ip, bot, country FROM click_events WHERE workspace_id = {workspaceId:String}',
      { workspaceId: link.workspaceId },
    )
    return { ...row, clicks: (await readCounter(link)).clicks || 0 }
  }

  test.each<[Platform['config']['IP_STORAGE'], string, string]>([
    ['full', 'DE', '::ffff:198.51.100.7'],
    ['eu-truncated', 'DE', '::ffff:198.51.100.0'],
    ['eu-truncated', 'US', '::ffff:198.51.100.7'],
    ['truncated', 'US', '::ffff:198.51.100.0'],
    ['none', 'US', '::'],
  ])('IP_STORAGE=%s: an IP address in %s is stored as %s', async (IP_STORAGE, country, ip) => {
    expect(await shown({ IP_STORAGE }, { ip: '198.51.100.7', country })).toMatchObject({ ip, clicks: 1 })
  })

  test("a visitor's location decides how much of the IP address is stored", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tributary-ingest-geo-'))
    const file = join(folder, 'places.mmdb')
    const records = {
      '198.51.100.0/24': { country: { iso_code: 'US' } },
      '203.0.113.0/24': { country: { iso_code: 'FR' } },
    }
    await writeFile(file, mmdb(records))
    using geo = openGeo({ GEO_DATABASE: file }, platform.log)
    const outside = await storedWith({ ...platform, geo }, { ip: '198.51.100.7' })
    expect(outside).toMatchObject({ country: 'US', ip: '::ffff:198.51.100.7', clicks: 1 })
    const inside = await storedWith({ ...platform, geo }, { ip: '203.0.113.7' })
    expect(inside).toMatchObject({ country: 'FR', ip: '::ffff:203.0.113.0', clicks: 1 })
    await rm(folder, { recursive: true })
  })

  test('clicks from data centres are stored as bots without being counted', async () => {
    const BOT_RANGES_FILE = parseRanges('198.51.100.0/24')
    expect(await shown({ BOT_RANGES_FILE }, { ip: '198.51.100.7' })).toMatchObject({ bot: 'datacenter', clicks: 0 })
    expect(await shown({ BOT_RANGES_FILE }, { ip: '198.51.101.7' })).toMatchObject({ bot: '', clicks: 1 })
  })
})

describe('the owner of a partition', () => {
  test('is a single worker, and changes when its lease has expired', async () => {
    const [first, second] = [newHolder(), newHolder()]
    second.partition = first.partition
    expect(await claim(platform, first)).toEqual({ sequence: 0, intent: null, stream: '', arrivedAt: null })
    expect(await claim(platform, second)).toBeUndefined()
    expect(await claim(platform, first)).toEqual({ sequence: 0, intent: null, stream: '', arrivedAt: null })
    expect(await renew(platform, first)).toBe(true)
    await release(platform, first)
    expect(await claim(platform, second)).toEqual({ sequence: 0, intent: null, stream: '', arrivedAt: null })
    expect(await renew(platform, first)).toBe(false)
    await release(platform, first)
    expect(await readCursor(second)).toMatchObject({ owner: second.owner })
  })

  test('stops without storing clicks when it loses the partition before writing the intent', async () => {
    const link = await someLink()
    const late = newHolder()
    await claim(platform, late)
    const { holder } = await takeOver(late)
    const messages = buildLog([buildClick(platform, link)])
    await expect(ingest(platform, late, 0, messages)).rejects.toThrow(PartitionLost)
    expect(await countRows(link)).toEqual({ people: 0, bots: 0 })
    expect(await ingest(platform, holder, 0, messages)).toBe(1)
    expect(await readCounter(link)).toMatchObject({ clicks: 1 })
  })

  test('stops when it loses the partition after writing the intent, and the batch counts once', async () => {
    const link = await someLink()
    const late = newHolder()
    await claim(platform, late)
    const messages = buildLog([buildClick(platform, link), buildClick(platform, link)])
    const slow: Platform = {
      ...platform,
      clickhouse: withMethod(
        platform.clickhouse,
        'exec',
        async (...input: Parameters<typeof platform.clickhouse.exec>) => {
          const { holder, cursor } = await takeOver(late)
          if (!cursor.intent) throw new Error('The intent should have been written')
          expect(await finish(platform, holder, cursor.sequence, cursor.intent, messages)).toBe(1)
          return platform.clickhouse.exec(...input)
        },
      ),
    }
    await expect(ingest(slow, late, 0, messages)).rejects.toThrow(PartitionLost)
    expect(await countRows(link)).toEqual({ people: 2, bots: 0 })
    expect(await readCounter(link)).toMatchObject({ clicks: 2 })
  })
})

test('a batch that could not be encoded early is recorded first, so that the next attempt can divide it', async () => {
  const link = await someLink()
  const holder = newHolder()
  await claim(platform, holder)
  const messages = buildLog([buildClick(platform, link), buildClick(platform, link)])
  const prepared = await prepare(platform, holder, messages)
  const missing = prepared.missing.map((row, index) => (index === 0 ? { ...row, id_text: 'short' } : row))
  await expect(store(platform, holder, 0, { ...prepared, missing, encoded: undefined })).rejects.toThrow(
    'instead of 30',
  )
  const { holder: next, cursor } = await takeOver(holder)
  if (!cursor.intent) throw new Error('The batch was not recorded')
  expect(await finish(platform, next, cursor.sequence, cursor.intent, messages)).toBe(1)
  expect(await countRows(link)).toEqual({ people: 2, bots: 0 })
})
