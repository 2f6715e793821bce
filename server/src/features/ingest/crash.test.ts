import { randomInt, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import type { Db } from '../../platform/postgres.ts'
import type { RawClick } from '../redirect/messages.ts'
import { type LogMessage, PartitionLost } from './batch.ts'
import { claim, finish, ingest } from './service.ts'
import type { Cursor, Holder } from './store.ts'

const engines = await startEngines({ only: ['valkey'] })
const platform = await openTestPlatform(engines.urls)
afterAll(() => engines.stop())

const crash = new Error('crash')
const points = ['before intent', 'after intent', 'after insert', 'before commit'] as const
type Point = (typeof points)[number]
type TestLink = { number: bigint; workspaceId: string; url: string }

/** The platform of a worker that dies at `point` of its next batch. */
function dying(point: Point | undefined): Platform {
  const { clickhouse, db } = platform
  if (point === 'after intent') return { ...platform, clickhouse: withMethod(clickhouse, 'exec', die) }
  if (point === 'after insert') {
    const exec = async (...input: Parameters<typeof clickhouse.exec>) => {
      await clickhouse.exec(...input)
      die()
    }
    return { ...platform, clickhouse: withMethod(clickhouse, 'exec', exec) }
  }
  if (point === 'before commit') {
    const execute = (work: (db: Db) => Promise<unknown>) =>
      db.transaction().execute(async (inside) => {
        await work(inside)
        die()
      })
    return { ...platform, db: withMethod(db, 'transaction', () => ({ execute })) }
  }
  return platform
}

function die(): never {
  throw crash
}

function withMethod<T extends object>(handle: T, name: keyof T, replacement: unknown): T {
  return new Proxy(handle, {
    get(target, property) {
      const value = property === name ? replacement : Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const newPartition = () => randomInt(1_000, 2 ** 31)

/** A new worker that claims the partition after the previous worker's lease has expired. */
async function nextWorker(partition: number): Promise<{ holder: Holder; cursor: Cursor }> {
  await sql`UPDATE ingest_cursors SET leased_until = '-infinity' WHERE partition = ${partition}`.execute(platform.db)
  const holder = { partition, owner: randomUUID() }
  const cursor = await claim(platform, holder)
  if (!cursor) throw new Error('The partition should have been unowned')
  return { holder, cursor }
}

/** A worker stores a batch of at most `size` messages, or finishes an interrupted one. Returns whether it died. */
async function workOn(partition: number, log: LogMessage[], size: number, point?: Point): Promise<boolean> {
  const { holder, cursor } = await nextWorker(partition)
  const range = (first: number, last: number) => log.filter(({ sequence }) => sequence >= first && sequence <= last)
  try {
    if (cursor.intent) {
      const { first, last } = cursor.intent
      await finish(dying(point), holder, cursor.sequence, cursor.intent, range(first, last))
      return false
    }
    const batch = range(cursor.sequence + 1, cursor.sequence + size)
    // A worker that does not own the partition validates the batch, but can't write its intent.
    const actor = point === 'before intent' ? { partition, owner: 'nobody' } : holder
    if (batch.length > 0) await ingest(dying(point), actor, cursor.sequence, batch)
    return false
  } catch (error) {
    if (error !== crash && !(error instanceof PartitionLost)) throw error
    return true
  }
}

async function someLinks(count: number): Promise<TestLink[]> {
  const workspace = await buildWorkspace(platform)
  const links = await Promise.all(Array.from({ length: count }, () => buildLink(platform, workspace)))
  const result = await sql<{ number: bigint }>`SELECT number FROM links
    WHERE id = ANY(${links.map(({ id }) => id)}) ORDER BY number`.execute(platform.db)
  return result.rows.map(({ number }) => ({ number, workspaceId: workspace.id, url: 'https://example.com/' }))
}

async function readStored(links: TestLink[]) {
  const { workspaceId } = links[0] as TestLink
  const rows = await query<{ number: string; people: string; bots: string; ids: string }>(
    platform.clickhouse,
    `SELECT toString(link_number) AS number, countIf(bot = '') AS people, countIf(bot != '') AS bots
     FROM click_events WHERE workspace_id = {workspaceId:String} GROUP BY link_number`,
    { workspaceId },
  )
  const counters = await sql<{ link_number: bigint; clicks: bigint }>`
    SELECT link_number, clicks FROM link_counters WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  return links.map(({ number }) => {
    const row = rows.find((candidate) => candidate.number === String(number))
    const counter = counters.rows.find((candidate) => candidate.link_number === number)
    return { people: Number(row?.people ?? 0), bots: Number(row?.bots ?? 0), counted: Number(counter?.clicks) }
  })
}

describe.each(points)('a worker that dies %s', (point) => {
  test.each([
    ['', async () => {}],
    [', even if Valkey has lost its data', () => platform.valkey.flushall()],
  ])('is replaced by a worker that completes its batch%s: each click counts once', async (_name, meanwhile) => {
    const links = await someLinks(2)
    const partition = newPartition()
    const [first, second] = links as [TestLink, TestLink]
    const repeated = buildClick(platform, first)
    const log = [
      { sequence: 1, body: [repeated, buildClick(platform, second), { ...repeated, at: repeated.at + 1 }] },
      { sequence: 2, body: [buildClick(platform, first), buildClick(platform, first, { bot: 'head' })] },
      { sequence: 3, body: [{ forged: true }, repeated, buildClick(platform, second)] },
    ]
    expect(await workOn(partition, log, 2, point)).toBe(true)
    await meanwhile()
    expect(await workOn(partition, log, 2)).toBe(false)
    expect(await workOn(partition, log, 2)).toBe(false)
    const [ofFirst, ofSecond] = await readStored(links)
    expect(ofSecond).toEqual({ people: 2, bots: 0, counted: 2 })
    // When Valkey has lost its data, a worker stores a later repeat as a click, but rows and counters stay equal.
    expect(ofFirst?.people).toBe(ofFirst?.counted)
    expect(ofFirst?.bots).toBe(1)
    if (_name === '') expect(ofFirst?.people).toBe(2)
    const { cursor } = await nextWorker(partition)
    expect(cursor).toMatchObject({ sequence: 3, intent: null })
  })
})

test('a click batch is completed however often its workers die', async () => {
  const links = await someLinks(1)
  const partition = newPartition()
  const log = [{ sequence: 1, body: [buildClick(platform, links[0] as TestLink)] }]
  for (const point of [...points, ...points.toReversed(), ...points]) await workOn(partition, log, 1, point)
  expect(await workOn(partition, log, 1)).toBe(false)
  expect(await readStored(links)).toEqual([{ people: 1, bots: 0, counted: 1 }])
})

test('click rows, link counters and hourly visitors match, whatever the batches and wherever workers die', async () => {
  const hourMs = 3_600_000
  const hourStart = Math.floor(Date.now() / hourMs) * hourMs
  const anyVisit = fc.record({
    link: fc.nat({ max: 2 }),
    visitor: fc.nat({ max: 4 }),
    hour: fc.nat({ max: 1 }),
    bot: fc.boolean(),
    offsetMs: fc.nat({ max: hourMs - 1 }),
  })
  const messages = fc.array(fc.array(anyVisit, { maxLength: 8 }), { minLength: 1, maxLength: 10 })
  const fates = fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 5 }), point: fc.option(fc.constantFrom(...points)) }),
    {
      maxLength: 12,
    },
  )
  await fc.assert(
    fc.asyncProperty(messages, fates, async (visits, plan) => {
      const links = await someLinks(3)
      const partition = newPartition()
      const log = visits.map((message, index) => ({ sequence: index + 1, body: message.map(toClick) }))
      for (const { size, point } of plan) await workOn(partition, log, size, point ?? undefined)
      while ((await nextWorker(partition)).cursor.sequence < log.length) await workOn(partition, log, 5)

      const distinct = links.map((_, link) => {
        const keys = (bot: boolean) =>
          visits
            .flat()
            .flatMap((visit) => (visit.link === link && visit.bot === bot ? [`${visit.visitor}/${visit.hour}`] : []))
        return { people: new Set(keys(false)).size, bots: new Set(keys(true)).size, counted: new Set(keys(false)).size }
      })
      expect(await readStored(links)).toEqual(distinct)

      function toClick({ link, visitor, hour, bot, offsetMs }: (typeof visits)[number][number]): RawClick {
        return buildClick(platform, links[link] as TestLink, {
          ip: `198.51.100.${visitor}`,
          at: hourStart - hour * hourMs + offsetMs,
          bot: bot ? 'prefetch' : '',
        })
      }
    }),
    { numRuns: 15, endOnFailure: true },
  )
})
