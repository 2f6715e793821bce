import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../engines/port.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { isOverloaded, query } from './clickhouse.ts'
import type { Config } from './config.ts'
import { isTimedOut, openConnection, openPostgres, PoolBusyError, type PoolUse, roleUse } from './postgres.ts'

const platform = await openTestPlatform()
const quick = { ...platform.config, POSTGRES_STATEMENT_TIMEOUT_MS: 300 }

function open(use: PoolUse, config: Config = quick) {
  const db = openPostgres(config, use)
  onTestFinished(() => db.destroy())
  return db
}

async function running(mark: string): Promise<number> {
  const result = await sql`SELECT pid FROM pg_stat_activity
    WHERE query LIKE ${`%${mark}%`} AND pid <> pg_backend_pid() AND state = 'active'`.execute(platform.db)
  return result.rows.length
}

test('PostgreSQL asks after silent clients, so that a host without power holds its locks for seconds', async () => {
  const settings = `SELECT current_setting('tcp_keepalives_idle') AS idle,
    current_setting('tcp_keepalives_interval') AS interval, current_setting('tcp_keepalives_count') AS count`
  const expected = { idle: '10', interval: '5', count: '3' }
  expect((await sql.raw(settings).execute(open('serving'))).rows).toEqual([expected])
  const connection = openConnection(platform.config)
  onTestFinished(() => connection.end())
  await connection.connect()
  expect((await connection.query(settings)).rows).toEqual([expected])
})

test('PostgreSQL itself cancels a statement that takes too long', async () => {
  const mark = randomUUID()
  const asked = sql`SELECT pg_sleep(30), ${sql.lit(mark)}`.execute(open('serving')).catch((error: unknown) => error)
  expect(isTimedOut(await asked)).toBe(true)
  await eventually(async () => expect(await running(mark)).toBe(0), 2_000)
})

test('jobs and commands have longer statement timeouts', async () => {
  const settings = async (use: PoolUse) => {
    const result = await sql<{ value: string }>`SELECT current_setting('statement_timeout') AS value`.execute(open(use))
    return result.rows[0]?.value
  }
  expect([await settings('serving'), await settings('jobs'), await settings('command')]).toEqual([
    '300ms',
    '1200ms',
    '12s',
  ])
  const uses = [['api'], ['redirect'], ['worker'], ['api', 'redirect', 'worker']] as Config['ROLES'][]
  expect(uses.map((ROLES) => roleUse({ ROLES }))).toEqual(['serving', 'serving', 'jobs', 'jobs'])
})

test('a statement waits for a lock no longer than its timeout', async () => {
  const db = open('serving')
  await platform.db.transaction().execute(async (holder) => {
    await sql`SELECT pg_advisory_xact_lock(4711, 1)`.execute(holder)
    const asked = sql`SELECT pg_advisory_lock(4711, 1)`.execute(db).catch((error: unknown) => error)
    expect(isTimedOut(await asked)).toBe(true)
  })
})

test('an idle transaction is aborted, and the pool stays usable', async () => {
  const db = open('serving')
  const left = db.transaction().execute(async (db) => {
    await sql`SELECT 1`.execute(db)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await sql`SELECT 1`.execute(db)
  })
  await expect(left).rejects.toThrow()
  expect((await sql<{ one: number }>`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }])
})

test('a statement without a response counts as timed out', async () => {
  const waiting = open('serving')
    .connection()
    .execute(async (db) => {
      await sql`SET statement_timeout = 0`.execute(db)
      await sql`SELECT pg_sleep(8)`.execute(db)
    })
    .catch((error: unknown) => error)
  expect(isTimedOut(await waiting)).toBe(true)
})

test('a PostgreSQL that accepts no connection in time causes PoolBusyError', async () => {
  const port = await freePort()
  const silent = createServer((socket) => socket.on('error', () => {})).listen(port, '127.0.0.1')
  onTestFinished(() => void silent.close())
  const db = open('serving', { ...quick, POSTGRES_URL: `postgres://127.0.0.1:${port}/none`, POSTGRES_WAIT_MS: 300 })
  await expect(sql`SELECT 1`.execute(db)).rejects.toBeInstanceOf(PoolBusyError)
})

test('ClickHouse without capacity counts as overloaded, an invalid statement does not', async () => {
  const fail = (code: number) =>
    query(
      platform.clickhouse,
      `SELECT throwIf(1, 'full', toInt16(${code})) SETTINGS allow_custom_error_code_in_throwif = 1`,
      {},
    ).catch((error: unknown) => error)
  expect([isOverloaded(await fail(202)), isOverloaded(await fail(47))]).toEqual([true, false])
})

test('arrays of all kinds of values arrive as they are', async () => {
  const texts = ['', 'NULL', 'null', null, 'a "quoted" \\ text', '{a,b}', ' ä\n€ ', "it's"]
  const times = [new Date('2026-01-31T12:34:56.789Z'), new Date('0099-01-01T00:00:00Z'), null]
  const far = new Date('+012026-01-01T00:00:00Z')
  const result = await sql<object>`SELECT ${texts}::text[] AS texts, ${[1n, -2n, null]}::bigint[] AS numbers,
    ${[1.5, 0, -3e-7]}::float8[] AS fractions, ${times}::timestamptz[] AS times, ${[far]}::timestamptz[] AS far,
    ${[true, false]}::boolean[] AS flags, ${[]}::text[] AS nothing, ${[Buffer.from([0, 255])]}::bytea[] AS bytes`.execute(
    platform.db,
  )
  expect(result.rows[0]).toEqual({
    ...{ texts, numbers: ['1', '-2', null], fractions: [1.5, 0, -3e-7], times, far: [far], flags: [true, false] },
    ...{ nothing: [], bytes: [Buffer.from([0, 255])] },
  })
})
