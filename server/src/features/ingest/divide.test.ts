import { randomInt, randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openOwnEngines } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { reconcileClicks } from '../../maintenance/clicks.ts'
import { rebuild } from '../../maintenance/rebuild.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import { deadLetterStream, jetStream } from '../../platform/nats.ts'
import type { Db } from '../../platform/postgres.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import { rollupDifferences } from '../rollups/service.ts'
import type { LogMessage } from './batch.ts'
import { countDeadLetters, listDeadLetters, retryAllDeadLetters } from './dead-letters.ts'
import { mostTries } from './divide.ts'
import { startIngest } from './jobs.ts'
import { ingestMetrics } from './metrics.ts'
import { claim, finish, ingest } from './service.ts'

vi.setConfig({ testTimeout: 240_000 })
const { platform } = await openOwnEngines({ INGEST_INTERVAL_MS: '20', EVENT_PARTITIONS: '1' })

const most = 9_223_372_036_854_775_807n
type TestLink = { number: bigint; workspaceId: string; url: string }

beforeEach(async () => {
  const manager = await jetstreamManager(platform.nats)
  await manager.streams.purge(deadLetterStream)
  await allowPoison()
})

async function newLink(): Promise<TestLink> {
  const workspace = await buildWorkspace(platform)
  const { id, url } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return { number: result.rows[0]?.number ?? 0n, workspaceId: workspace.id, url }
}

const poison = (link: TestLink) => buildClick(platform, link, { url: 'https://example.com/poison' })

/** Adds a ClickHouse constraint that refuses clicks whose URL ends with `poison`, and with them the whole insert. */
function forbidPoison(): Promise<unknown> {
  const query = `ALTER TABLE click_events ADD CONSTRAINT no_poison CHECK NOT endsWith(url, 'poison')`
  return platform.clickhouse.command({ query })
}

function allowPoison(): Promise<unknown> {
  return platform.clickhouse.command({ query: 'ALTER TABLE click_events DROP CONSTRAINT IF EXISTS no_poison' })
}

async function setClicks({ number }: TestLink, clicks: bigint): Promise<void> {
  await sql`UPDATE link_counters SET clicks = ${clicks} WHERE link_number = ${number}`.execute(platform.db)
}

async function readStored({ workspaceId }: TestLink) {
  const [row] = await query<{ rows: string; ids: string }>(
    platform.clickhouse,
    'SELECT count() AS rows, uniqExact(id) AS ids FROM click_events WHERE workspace_id = {workspaceId:String}',
    { workspaceId },
  )
  const counter = await sql<{ clicks: bigint }>`
    SELECT sum(clicks)::bigint AS clicks FROM link_counters WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  return { rows: Number(row?.rows), ids: Number(row?.ids), counted: Number(counter.rows[0]?.clicks) }
}

const stored = (count: number) => ({ rows: count, ids: count, counted: count })

async function differences({ workspaceId }: TestLink): Promise<unknown[]> {
  const month = `${new Date().toISOString().slice(0, 7)}-01`
  const found: unknown[] = await rollupDifferences(platform, { month, workspaceId })
  for await (const { findings } of reconcileClicks(platform, { workspaceId })) found.push(...findings)
  return found
}

function publish(...clicks: unknown[]) {
  return jetStream(platform.nats).publish(clicksSubject(0), JSON.stringify(clicks))
}

async function retryAll(): Promise<number> {
  let count = 0
  for await (const letter of retryAllDeadLetters(platform)) if ('subject' in letter) count += 1
  return count
}

async function expectLetters(count: number, reason: string | RegExp): Promise<void> {
  await eventually(async () => {
    const { letters, total } = await listDeadLetters(platform, 100)
    expect(total).toBe(count)
    for (const letter of letters) expect(letter.reason).toMatch(reason)
  }, 30_000)
}

test('a click that ClickHouse refuses becomes a dead letter, all others are stored, and a retry stores it once', async () => {
  const [hostile, honest] = [await newLink(), await newLink()]
  await forbidPoison()
  const clicks = () => Array.from({ length: 3 }, () => buildClick(platform, honest))
  await using _worker = await startIngest(platform)
  await publish(...clicks(), poison(hostile), ...clicks(), buildClick(platform, hostile), poison(hostile))
  await publish(...clicks())
  await eventually(async () => expect(await readStored(honest)).toEqual(stored(9)), 30_000)
  expect(await readStored(hostile)).toEqual(stored(1))
  await expectLetters(2, /^ClickHouse rejected the data: VIOLATED_CONSTRAINT \(469\)$/)
  const { values } = await ingestMetrics(platform).ingested.get()
  expect(values.find(({ labels }) => labels.reason === 'refused')?.value).toBe(2)

  // ClickHouse still refuses the retried clicks, so there are two new dead letters.
  expect(await retryAll()).toBe(2)
  await expectLetters(2, /469/)
  expect(await readStored(hostile)).toEqual(stored(1))

  await allowPoison()
  expect(await retryAll()).toBe(2)
  await eventually(async () => expect(await readStored(hostile)).toEqual(stored(3)), 30_000)
  expect(await countDeadLetters(platform)).toBe(0)
  expect([...(await differences(hostile)), ...(await differences(honest))]).toEqual([])
})

test('a click that PostgreSQL refuses to count loses its ClickHouse row, and a retry stores it once', async () => {
  const [hostile, honest] = [await newLink(), await newLink()]
  await setClicks(hostile, most)
  await using _worker = await startIngest(platform)
  await publish(buildClick(platform, hostile), buildClick(platform, honest), buildClick(platform, hostile))
  await eventually(async () => expect(await readStored(honest)).toEqual(stored(1)), 30_000)
  await expectLetters(2, /^PostgreSQL rejected the data: SQLSTATE 22003$/)
  expect(await readStored(hostile)).toMatchObject({ rows: 0 })

  await setClicks(hostile, 0n)
  expect(await retryAll()).toBe(2)
  await eventually(async () => expect(await readStored(hostile)).toEqual(stored(2)), 30_000)
  expect([...(await differences(hostile)), ...(await differences(honest))]).toEqual([])
})

test('a click that ClickHouse refuses to look up becomes a dead letter', async () => {
  const honest = await newLink()
  await using _worker = await startIngest(platform)
  const unreadable = { ...buildClick(platform, honest), workspaceId: 'ws_\0' }
  const strange = buildClick(platform, honest, { bot: 'NUL\0 \ud800' })
  await publish(buildClick(platform, honest), unreadable, strange, buildClick(platform, honest))
  await eventually(async () => expect(await readStored(honest)).toEqual({ rows: 3, ids: 3, counted: 2 }), 30_000)
  await expectLetters(1, /^PostgreSQL rejected the data: SQLSTATE 22021$/)
})

test('a rebuild adds all clicks of a batch except a click that ClickHouse refuses', async () => {
  const [hostile, honest] = [await newLink(), await newLink()]
  await forbidPoison()
  {
    await using _worker = await startIngest(platform)
    await publish(buildClick(platform, honest), poison(hostile), buildClick(platform, honest))
    await eventually(async () => expect(await readStored(honest)).toEqual(stored(2)), 30_000)
  }
  const where = `DELETE WHERE workspace_id = '${honest.workspaceId}'`
  await platform.clickhouse.command({
    query: `ALTER TABLE click_events ${where}`,
    clickhouse_settings: { mutations_sync: '2' },
  })
  await rebuild(platform, () => {})
  expect(await readStored(honest)).toEqual(stored(2))
  expect(await readStored(hostile)).toEqual(stored(0))
})

test('refused clicks of one workspace become dead letters together before they block others for long', async () => {
  const [hostile, honest] = [await newLink(), await newLink()]
  await setClicks(hostile, most)
  const bodies = [...Array.from({ length: 40 }, () => buildClick(platform, hostile)), buildClick(platform, honest)]
  const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
  await claim(platform, holder)
  const log = [{ sequence: 1, body: bodies }]
  await expect(ingest(platform, holder, 0, log)).rejects.toThrow()
  const intent = (await claim(platform, holder))?.intent
  if (!intent) throw new Error('The intent should have been written')
  const division = { parts: [[0, 41]] as [number, number][], attempts: 0, tries: mostTries - 5, refused: [] }
  await finish(platform, holder, 0, { ...intent, division }, log)
  expect(await readStored(honest)).toEqual(stored(1))
  expect(await readStored(hostile)).toMatchObject({ rows: 0 })
  await expectLetters(40, /22003/)
})

test('wherever refused clicks are and workers die, all other clicks are stored and counted once', async () => {
  await forbidPoison()
  const kinds = fc.array(fc.constantFrom('good', 'other link', 'bot', 'poison', 'uncountable'), {
    minLength: 1,
    maxLength: 7,
  })
  const deaths = fc.array(fc.nat({ max: 60 }), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(kinds, deaths, async (events, calls) => {
      const [first, second] = [await newLink(), await newLink()]
      const uncountable = { ...first, number: 2n ** 63n + BigInt(randomInt(2 ** 40)) }
      const build: Record<string, () => RawClick> = {
        good: () => buildClick(platform, first),
        'other link': () => buildClick(platform, second),
        bot: () => buildClick(platform, second, { bot: 'head' }),
        poison: () => poison(first),
        uncountable: () => buildClick(platform, uncountable),
      }
      const count = (...names: string[]) => events.filter((name) => names.includes(name)).length
      const partition = randomInt(1_000, 2 ** 31)
      const log = [{ sequence: 1, body: events.map((name) => build[name]?.()) }]
      for (const call of calls) await work(mortal(call), partition, log).catch(() => {})
      while ((await work(platform, partition, log).catch(() => 0)) !== 1);
      expect(await readStored(first)).toEqual(stored(count('good')))
      const others = count('other link')
      expect(await readStored(second)).toMatchObject({ rows: others + count('bot'), counted: others })
      expect([...(await differences(first)), ...(await differences(second))]).toEqual([])
      expect(await countLetters(partition)).toBe(count('poison', 'uncountable'))
    }),
    // In the example, a worker dies between deleting a refused row and correcting its rollups.
    {
      numRuns: 4,
      endOnFailure: true,
      examples: [
        [
          ['other link', 'other link', 'uncountable', 'bot', 'bot'],
          [42, 32, 46],
        ],
      ],
    },
  )
})

/** A new worker continues after the previous lease has expired; returns the last stored sequence. */
async function work(platform: Platform, partition: number, log: LogMessage[]): Promise<number> {
  await sql`UPDATE ingest_cursors SET leased_until = '-infinity' WHERE partition = ${partition}`.execute(platform.db)
  const holder = { partition, owner: randomUUID() }
  const cursor = await claim(platform, holder)
  if (!cursor) throw new Error('The partition should have been unowned')
  if (cursor.sequence === 1) return 1
  return cursor.intent
    ? finish(platform, holder, 0, cursor.intent, log)
    : ingest(platform, holder, cursor.sequence, log)
}

/** The platform of a worker that dies before its nth database call: that call and all later calls fail. */
function mortal(lastCall: number): Platform {
  let calls = 0
  const live = () => {
    if (calls++ >= lastCall) throw new Error('crash')
  }
  const counted = <T extends object>(handle: T, names: string[]): T =>
    new Proxy(handle, {
      get(target, property) {
        const value = Reflect.get(target, property, target)
        if (property === 'transaction') return () => ({ execute: executeMortal })
        if (typeof value !== 'function') return value
        if (!names.includes(String(property))) return value.bind(target)
        return (...input: unknown[]) => {
          live()
          return value.apply(target, input)
        }
      },
    })
  const executeMortal = (work: (db: Db) => Promise<unknown>) =>
    platform.db.transaction().execute(async (inside) => {
      live()
      const result = await work(inside)
      live()
      return result
    })
  return {
    ...platform,
    clickhouse: counted(platform.clickhouse, ['insert', 'query', 'command']),
    db: counted(platform.db, ['getExecutor']),
    nats: counted(platform.nats, ['request']),
  }
}

async function countLetters(partition: number): Promise<number> {
  const manager = await jetstreamManager(platform.nats)
  const subject = `dead.events.${partition}`
  const { state } = await manager.streams.info(deadLetterStream, { subjects_filter: subject })
  return state.subjects?.[subject] ?? 0
}
