import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const quiet = { level: ClickHouseLogLevel.OFF }
let folder: string
let server: ChildProcess
let url: string
let client: ReturnType<typeof createClient>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tributary-clickhouse-'))
  await startServer('0')
})

afterAll(async () => {
  await client.close()
  await stopServer('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

describe('statements', () => {
  test('answers a ping', async () => {
    expect(await client.ping()).toEqual({ success: true })
    expect(await client.ping({ select: true })).toEqual({ success: true })
  })

  test('creates a database and a table, inserts and reads', async () => {
    await client.command({ query: 'CREATE DATABASE shop' })
    await client.command({ query: 'CREATE TABLE shop.sales (id UInt32, name String) ENGINE = MergeTree ORDER BY id' })
    const values = [
      { id: 1, name: "O'Brien \\ tab\tline\nend" },
      { id: 2, name: '☕ ünïcode' },
    ]
    const { summary } = await client.insert({ table: 'shop.sales', values, format: 'JSONEachRow' })
    expect(summary?.written_rows).toBe('2')
    expect(await rows('SELECT * FROM shop.sales ORDER BY id')).toEqual(values)
    const inShop = createClient({ url, password: 'secret word', database: 'shop' })
    expect(
      await (await inShop.query({ query: 'SELECT count() AS n FROM sales', format: 'JSON' })).json(),
    ).toMatchObject({
      data: [{ n: 2 }],
      rows: 1,
    })
    await inShop.close()
  })

  test('inserts a stream of rows, gzipped', async () => {
    const gzip = createClient({ url, password: 'secret word', compression: { request: true, response: true } })
    await gzip.command({ query: 'CREATE TABLE streamed (id UInt32) ENGINE = MergeTree ORDER BY id' })
    const values = Readable.from(Array.from({ length: 10_000 }, (_, id) => ({ id })))
    await gzip.insert({ table: 'streamed', values, format: 'JSONEachRow' })
    await gzip.insert({ table: 'streamed', values: Readable.from([]), format: 'JSONEachRow' })
    const result = await gzip.query({ query: 'SELECT sum(id) AS sum FROM streamed', format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ sum: 49995000 }])
    await gzip.close()
  })

  test.each([
    ['String', "it's \\ a\ttest\n'; DROP"],
    ['Array(String)', ['plain', "O'Brien", 'back\\slash', '']],
    ['DateTime64(3)', '2026-03-04 05:06:07.089'],
    ['Nullable(String)', null],
    ['UInt64', 9007199254740991],
  ])('binds a parameter of type %s', async (type, value) => {
    expect(await rows(`SELECT {value:${type}} AS value`, { value })).toEqual([{ value }])
    expect(await rows(`SELECT (SELECT {value:${type}}) AS value`, { value })).toHaveLength(1)
  })

  test('binds any text', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '1', "'", '\\', '`', '{', '\0', '\n', '\t', '\r', '%', 'é', '☕'),
      minLength: 1,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(text), async (value) => {
        expect(await rows('SELECT {value:Array(String)} AS value', { value })).toEqual([{ value }])
        expect(await rows('SELECT {value:String} AS value', { value: value.join('') })).toEqual([
          { value: value.join('') },
        ])
      }),
      { numRuns: 50 },
    )
  })

  test('binds a date', async () => {
    const value = new Date('2026-03-04T05:06:07.089Z')
    const found = await rows("SELECT toString({value:DateTime64(3, 'UTC')}) AS value", { value })
    expect(found).toEqual([{ value: '2026-03-04 05:06:07.089' }])
  })

  test('drops a repeated batch with the same deduplication token', async () => {
    await client.command({
      query: `CREATE TABLE once (id UInt32) ENGINE = MergeTree ORDER BY id
        SETTINGS non_replicated_deduplication_window = 100`,
    })
    for (const token of ['0:1:2', '0:1:2', '0:3:4']) {
      await client.insert({
        table: 'once',
        values: [{ id: 1 }, { id: 2 }],
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: token },
      })
    }
    expect(await rows('SELECT count() AS n FROM once')).toEqual([{ n: 4 }])
  })

  test('stores all bytes of binary rows, also those that end a statement in text', async () => {
    await client.command({
      query: 'CREATE TABLE bytes (batch UInt32, id UInt32, text String) ENGINE = MergeTree ORDER BY (batch, id)',
    })
    const hostile = fc.constantFrom(0x0a, 0x0d, 0x00, 0x3b, 0x27, 0x5c, 0x2d, 0xff)
    const text = fc.array(fc.oneof(hostile, fc.nat(255)), { maxLength: 60 }).map((bytes) => Buffer.from(bytes))
    let batch = 0
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 300 }), async (texts) => {
        batch += 1
        await insertBinary(
          'bytes',
          texts.flatMap((text, id) => [uint32(batch), uint32(id), withLength(text)]),
        )
        const query = 'SELECT hex(text) AS hex FROM bytes WHERE batch = {batch:UInt32} ORDER BY id'
        expect(await rows(query, { batch })).toEqual(texts.map((text) => ({ hex: text.toString('hex').toUpperCase() })))
      }),
      { numRuns: 40 },
    )
    expect(await readdir(join(folder, 'data', 'inserts'))).toEqual([])
  })

  test('stores 200,000 binary rows once per deduplication token', async () => {
    await client.command({
      query: `CREATE TABLE many (id UInt32, text String) ENGINE = MergeTree ORDER BY id
        SETTINGS non_replicated_deduplication_window = 100`,
    })
    const sent = Array.from({ length: 200_000 }, (_, id) => [uint32(id), withLength(Buffer.from(`\n\n${id}`))]).flat()
    for (const token of ['a', 'a', 'b']) await insertBinary('many', sent, token)
    const query = 'SELECT count() AS n, uniqExact(id) AS ids, sum(id) AS sum FROM many'
    expect(await rows(query)).toEqual([{ n: 400_000, ids: 200_000, sum: 39_999_800_000 }])
  })

  test('refuses binary rows that end too early', async () => {
    await client.command({ query: 'CREATE TABLE cut (id UInt32, text String) ENGINE = MergeTree ORDER BY id' })
    await expect(insertBinary('cut', [uint32(1), Buffer.from([200, 1])])).rejects.toThrow('CANNOT_READ_ALL_DATA')
    expect(await rows('SELECT count() AS n FROM cut')).toEqual([{ n: 0 }])
  })

  test('applies settings to one query only', async () => {
    const threads = "SELECT value FROM system.settings WHERE name = 'max_threads'"
    const before = await rows(threads)
    const changed = await client.query({
      query: threads,
      format: 'JSONEachRow',
      clickhouse_settings: { max_threads: 3 },
    })
    expect(await changed.json()).toEqual([{ value: '3' }])
    expect(await rows(threads)).toEqual(before)
  })

  test('runs queries at the same time', async () => {
    const startedAt = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => rows('SELECT {n:UInt8} AS n, sleep(0.5) AS s', { n })),
    )
    expect(answers.map(([row]) => (row as { n: number }).n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(performance.now() - startedAt).toBeLessThan(2500)
  })
})

describe('errors', () => {
  test.each([
    ['SELECT FROM WHERE', '62', 'SYNTAX_ERROR', 400],
    ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE', 404],
    ['SELECT missing', '47', 'UNKNOWN_IDENTIFIER', 404],
    ["SELECT toUInt8('x')", '6', 'CANNOT_PARSE_TEXT', 400],
    ['SELECT {absent:String}', '456', 'UNKNOWN_QUERY_PARAMETER', 500],
    ['SELECT 1 SETTINGS max_rows_to_read = 1, nonsense = 2', '115', 'UNKNOWN_SETTING', 404],
  ])('%s', async (query, code, type, status) => {
    const error = await client.query({ query, format: 'JSONEachRow' }).catch((reason) => reason)
    expect(error).toBeInstanceOf(ClickHouseError)
    expect(error).toMatchObject({ code, type })
    const response = await fetch(url, { method: 'POST', body: query, headers: { 'x-clickhouse-key': 'secret word' } })
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([status, code])
    expect(await response.text()).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: .*\\(${type}\\)`, 's'))
  })

  test('the error of an invalid insert has the row number', async () => {
    await client.command({ query: 'CREATE TABLE strict (id UInt32) ENGINE = MergeTree ORDER BY id' })
    const values = [{ id: 1 }, { id: 'many' }]
    await expect(client.insert({ table: 'strict', values, format: 'JSONEachRow' })).rejects.toThrow(/at row 1|row 2/)
    await expect(client.insert({ table: 'none', values, format: 'JSONEachRow' })).rejects.toMatchObject({ code: '60' })
  })

  test('an error after the first rows reaches the client', async () => {
    const result = await client.query({
      query: 'SELECT throwIf(number = 300000) AS thrown FROM numbers(400000)',
      format: 'JSONEachRow',
      clickhouse_settings: { max_block_size: '1000' },
    })
    await expect(result.json()).rejects.toMatchObject({ code: '395' })
  })

  test('refuses a wrong password and an unknown user', async () => {
    for (const credentials of [{ password: 'guess' }, { username: 'someone', password: 'secret word' }]) {
      const stranger = createClient({ url, ...credentials, log: quiet })
      await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' })
      await stranger.close()
    }
    expect((await fetch(`${url}/?query=SELECT+1`)).status).toBe(403)
    expect(await (await fetch(`${url}/?query=SELECT+1&password=secret+word`)).text()).toBe('1\n')
  })
})

describe('long queries', () => {
  test('streams 500,000 rows with the memory of 200,000', async () => {
    const fewer = await highestMegabytes(200_000)
    const more = await highestMegabytes(500_000)
    expect(more - fewer).toBeLessThan(80)
  })

  test.each(['SELECT sum(sleepEachRow(0.01)) FROM numbers(2000)', 'SELECT sleepEachRow(0.01) FROM numbers(2000)'])(
    'aborting the request cancels %s',
    async (query) => {
      for (const waitMs of [0, 300]) {
        const abort = new AbortController()
        const settings = { max_block_size: '100', function_sleep_max_microseconds_per_block: '0' }
        const running = client.query({ query, abort_signal: abort.signal, clickhouse_settings: settings })
        const ended = running.then((result) => result.text()).catch(() => 'aborted')
        await sleep(waitMs)
        abort.abort()
        expect(await ended).toBe('aborted')
        await expect.poll(() => runningQueries('sleepEachRow'), { timeout: 5000 }).toBe(0)
      }
    },
  )
})

test('data survives kill -9 and a restart', async () => {
  await client.command({ query: 'CREATE TABLE kept (id UInt32) ENGINE = MergeTree ORDER BY id' })
  await client.insert({ table: 'kept', values: [{ id: 7 }], format: 'JSONEachRow' })
  await stopServer('SIGKILL')
  await startServer(new URL(url).port)
  expect(await rows('SELECT id FROM kept')).toEqual([{ id: 7 }])
})

test('warns once in production, and says what to install', async () => {
  const own = await mkdtemp(join(tmpdir(), 'tributary-clickhouse-'))
  const env = { ...process.env, NODE_ENV: 'production', CH_PATH: own, CH_PORT: '0', UV_THREADPOOL_SIZE: '24' }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const warnings = text(child.stderr)
  await once(createInterface(child.stdout), 'line')
  child.kill('SIGTERM')
  const lines = (await warnings).split('\n').filter((line) => line.includes('development and trials'))
  expect(lines).toEqual([expect.stringContaining('Install the ClickHouse server: docs/guides/self-hosting.md')])
  await rm(own, { recursive: true, force: true })
})

async function startServer(port: string) {
  const settings = {
    CH_PATH: join(folder, 'data'),
    CH_PORT: port,
    CH_PASSWORD: 'secret word',
    UV_THREADPOOL_SIZE: '24',
  }
  server = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (!server.stdout) throw new Error('the server has no stdout')
  const [line] = await once(createInterface(server.stdout), 'line')
  url = /http:\/\/[\d.:]+/.exec(line)?.[0] ?? ''
  client = createClient({ url, password: 'secret word', log: quiet })
}

async function stopServer(signal: NodeJS.Signals) {
  const exited = once(server, 'exit')
  server.kill(signal)
  await exited
}

async function rows(query: string, parameters: Record<string, unknown> = {}) {
  const result = await client.query({ query, query_params: parameters, format: 'JSONEachRow' })
  return result.json()
}

async function insertBinary(table: string, pieces: Buffer[], token?: string): Promise<void> {
  const sql = `INSERT INTO ${table} FORMAT RowBinary`
  const parameters = new URLSearchParams({ query: sql, ...(token && { insert_deduplication_token: token }) })
  const headers = { 'x-clickhouse-key': 'secret word' }
  const response = await fetch(`${url}/?${parameters}`, { method: 'POST', headers, body: Buffer.concat(pieces) })
  if (!response.ok) throw new Error(await response.text())
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** A string of fewer than 128 bytes in RowBinary: its length, and its bytes. */
function withLength(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

async function runningQueries(text: string): Promise<number> {
  const query =
    'SELECT count() AS n FROM system.processes WHERE query LIKE {text:String} AND query NOT LIKE {own:String}'
  const [row] = await rows(query, { text: `%${text}%`, own: '%system.processes%' })
  return Number((row as { n: number }).n)
}

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

async function highestMegabytes(rowCount: number): Promise<number> {
  const result = await client.query({
    query: "SELECT number, repeat('x', 400) AS filler FROM numbers({rowCount:UInt32})",
    query_params: { rowCount },
    format: 'JSONEachRow',
    // Small blocks, because chdb keeps several whole blocks in memory until they are garbage collected.
    clickhouse_settings: { max_block_size: '8192' },
  })
  let count = 0
  let highest = 0
  for await (const batch of result.stream()) {
    count += batch.length
    highest = Math.max(highest, await residentMegabytes())
  }
  expect(count).toBe(rowCount)
  return highest
}
