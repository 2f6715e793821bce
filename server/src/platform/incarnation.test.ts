import { randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { startEngines } from '../../../engines/start.ts'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { createDatabases } from '../../test/own-database.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { finishRewinds } from '../maintenance/rewinds.ts'
import type { Platform } from './context.ts'
import { checkIncarnation, selectRewinds } from './incarnation.ts'
import { migrate } from './migrate.ts'
import { changeStream, databaseStream, ensureStreams, jetStream } from './nats.ts'
import { publish, startRelay } from './outbox.ts'

const engines = await startEngines({ only: ['nats'] })
afterAll(() => engines.stop())

/** Uses its own ClickHouse database: rows of other tests have link numbers that this PostgreSQL never used. */
async function openDatabase(): Promise<Platform> {
  const platform = await openTestPlatform({ ...engines.urls, ...(await createDatabases()) })
  await migrate(platform.config, platform.clickhouse, () => {})
  await ensureStreams(platform.nats, platform.config)
  return platform
}

type Incarnation = { id: string; beat: bigint; server: string; beat_at: Date }

async function readIncarnation({ db }: Platform): Promise<Incarnation> {
  return (await sql<Incarnation>`SELECT * FROM database_incarnation`.execute(db)).rows[0] as Incarnation
}

async function lastLinkNumber({ db }: Platform): Promise<bigint> {
  const found = await sql<{ last: bigint }>`SELECT last_value AS last FROM links_number_seq`.execute(db)
  return found.rows[0]?.last ?? 0n
}

/** Simulates the restore of an older copy: an older heartbeat, older sequences, another PostgreSQL process. */
async function goBack({ db }: Platform, { beat, beat_at }: Incarnation, links: bigint): Promise<void> {
  await sql`UPDATE database_incarnation SET beat = ${beat}, beat_at = ${beat_at}, server = 'another'`.execute(db)
  await sql`SELECT setval('links_number_seq', ${links})`.execute(db)
}

test('an unchanged database keeps its incarnation and counts heartbeats', async () => {
  const platform = await openDatabase()
  await checkIncarnation(platform, true)
  const first = await readIncarnation(platform)
  await checkIncarnation(platform, true)
  const second = await readIncarnation(platform)
  expect(second.id).toBe(first.id)
  expect(second.beat).toBe(first.beat + 1n)
  expect(await selectRewinds(platform.db)).toEqual([])
})

test('a database restored to an older state gets a new incarnation, and no number is used twice', async () => {
  const platform = await openDatabase()
  await checkIncarnation(platform, true)
  const older = await readIncarnation(platform)
  const links = await lastLinkNumber(platform)
  const workspace = await buildWorkspace(platform)
  for (let count = 0; count < 3; count++) await buildLink(platform, workspace)
  await checkIncarnation(platform, true)
  const highest = await lastLinkNumber(platform)
  await goBack(platform, older, links)
  await checkIncarnation(platform)
  const now = await readIncarnation(platform)
  expect(now.id).not.toBe(older.id)
  expect(await lastLinkNumber(platform)).toBeGreaterThan(highest)
  const [rewind] = await selectRewinds(platform.db)
  expect(rewind).toMatchObject({ engine: 'postgresql', is_certain: true, since: older.beat_at, lost: null })
  // A second check of the same state changes nothing.
  await checkIncarnation(platform)
  await checkIncarnation(platform, true)
  expect((await readIncarnation(platform)).id).toBe(now.id)
  expect(await selectRewinds(platform.db)).toHaveLength(1)
})

test('a new PostgreSQL process is checked before its connection is used', async () => {
  const platform = await openDatabase()
  await checkIncarnation(platform, true)
  const before = await readIncarnation(platform)
  const links = await lastLinkNumber(platform)
  await goBack(platform, { ...before, beat: 0n }, links)
  const { POSTGRES_URL, CLICKHOUSE_URL } = platform.config
  const other = await openTestPlatform({ ...engines.urls, POSTGRES_URL, CLICKHOUSE_URL })
  expect(await lastLinkNumber(other)).toBeGreaterThan(links)
  expect((await readIncarnation(other)).id).not.toBe(before.id)
})

test('a plain restart of PostgreSQL skips sequence numbers and reports no lost records', async () => {
  const platform = await openDatabase()
  await checkIncarnation(platform, true)
  const links = await lastLinkNumber(platform)
  await sql`UPDATE database_incarnation SET server = 'another'`.execute(platform.db)
  await checkIncarnation(platform)
  expect(await lastLinkNumber(platform)).toBeGreaterThan(links)
  const later = { ...platform, now: () => new Date(Date.now() + 60_000) }
  await finishRewinds(later)
  expect(await selectRewinds(platform.db)).toEqual([])
})

test('outbox messages that reuse a row id of an earlier incarnation are not dropped as duplicates', async () => {
  const platform = await openDatabase()
  const relay = startRelay(platform)
  const ctx = contextIn(platform, 'ws_test')
  const subject = `changes.0.test-${randomUUID()}`
  const last = async () => {
    const manager = await jetstreamManager(platform.nats)
    return (await manager.streams.getMessage(changeStream, { last_by_subj: subject }))?.json()
  }
  await checkIncarnation(platform, true)
  const older = await readIncarnation(platform)
  await publish(ctx, { subject, body: 'first' })
  await eventually(async () => expect(await last()).toBe('first'))
  await checkIncarnation(platform, true)
  await goBack(platform, older, await lastLinkNumber(platform))
  await checkIncarnation(platform)
  await sql`SELECT setval('outbox_id_seq', 1, false)`.execute(platform.db)
  await publish(ctx, { subject, body: 'second' })
  await eventually(async () => expect(await last()).toBe('second'))
  await relay[Symbol.asyncDispose]()
})

test('NATS that lost messages gets the recent messages again', async () => {
  const platform = await openDatabase()
  const relay = startRelay(platform)
  const ctx = contextIn(platform, 'ws_test')
  const subject = `changes.0.test-${randomUUID()}`
  const manager = await jetstreamManager(platform.nats)
  const read = async () => (await manager.streams.getMessage(changeStream, { last_by_subj: subject }))?.json()
  const { database } = (await sql<{ database: string }>`SELECT database FROM database_incarnation`.execute(platform.db))
    .rows[0] as { database: string }
  await checkIncarnation(platform, true)
  const mark = (await manager.streams.getMessage(databaseStream, { last_by_subj: `database.${database}` }))?.string()
  await checkIncarnation(platform, true)
  await checkIncarnation(platform, true)
  await publish(ctx, { subject, body: 'published' })
  await eventually(async () => expect(await read()).toBe('published'))
  await manager.streams.delete(changeStream)
  await ensureStreams(platform.nats, platform.config)
  await jetStream(platform.nats).publish(`database.${database}`, mark ?? '')
  await checkIncarnation(platform, true)
  await eventually(async () => expect(await read()).toBe('published'))
  expect(await selectRewinds(platform.db)).toMatchObject([{ engine: 'nats', is_certain: true }])
  await checkIncarnation(platform, true)
  expect(await selectRewinds(platform.db)).toHaveLength(1)
  await relay[Symbol.asyncDispose]()
})
