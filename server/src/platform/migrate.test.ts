import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type pg from 'pg'
import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { createDatabases } from '../../test/own-database.ts'
import { eventually } from '../../test/stack.ts'
import { openClickHouse, query } from './clickhouse.ts'
import { readConfig } from './config.ts'
import { MigrationError, migrate } from './migrate.ts'
import { openConnection } from './postgres.ts'

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
const environment = inject('environment')
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

test('two processes at once apply every migration once', async () => {
  const { env, connection } = await emptyDatabases()
  const migrations = new URL('../../migrations/', import.meta.url)
  const files = (
    await Promise.all(
      ['postgres', 'clickhouse'].map(async (engine) =>
        (await readdir(new URL(engine, migrations))).map((name) => `${engine}: ${name}`),
      ),
    )
  ).flat()
  const reports = await Promise.all([runMigrate(env), runMigrate(env)])
  expect(reports.flat().toSorted()).toEqual(files.toSorted())
  const applied = await connection.query("SELECT engine || ': ' || name AS file FROM migrations ORDER BY applied_at")
  expect(applied.rows.map((row) => row.file).toSorted()).toEqual(files.toSorted())
  expect(await runMigrate(env)).toEqual([])
})

describe('a failing PostgreSQL migration', () => {
  test('is rolled back, and the next run continues from it after a fix', async () => {
    const { connection, run, write } = await emptyDatabases()
    await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);')
    await write(
      'postgres/0002_two.sql',
      'CREATE TABLE two (id int);\nINSERT INTO two VALUES (1);\nSELECT * FROM nowhere;',
    )
    await write('postgres/0003_three.sql', 'CREATE TABLE three (id int);')
    await expect(run()).rejects.toThrow(
      new MigrationError('postgres/0002_two.sql failed and was rolled back: relation "nowhere" does not exist'),
    )
    expect(await listTables(connection)).toEqual(['migrations', 'one'])

    await write('postgres/0002_two.sql', 'CREATE TABLE two (id int);\nINSERT INTO two VALUES (1);')
    expect(await run()).toEqual(['postgres: 0002_two.sql', 'postgres: 0003_three.sql'])
    expect(await listTables(connection)).toEqual(['migrations', 'one', 'three', 'two'])
    expect((await connection.query('SELECT count(*)::int AS rows FROM two')).rows).toEqual([{ rows: 1 }])
  })

  test('whose process was killed runs again from its start', async () => {
    const { env, folder, connection, run, write } = await emptyDatabases()
    await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);\nINSERT INTO one VALUES (1);')
    await write(
      'postgres/0002_two.sql',
      'CREATE TABLE two (id int);\nINSERT INTO two VALUES (1);\nSELECT pg_sleep(60);',
    )
    await killWhen(env, folder, async () => {
      const asleep = await connection.query(
        "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()",
      )
      expect(asleep.rowCount).toBe(1)
    })
    await write('postgres/0002_two.sql', 'CREATE TABLE two (id int);\nINSERT INTO two VALUES (1);')
    expect(await run()).toEqual(['postgres: 0002_two.sql'])
    const rows = 'SELECT (SELECT count(*)::int FROM one) AS one, (SELECT count(*)::int FROM two) AS two'
    expect((await connection.query(rows)).rows).toEqual([{ one: 1, two: 1 }])
  })
})

describe('an interrupted ClickHouse migration', () => {
  const first = 'CREATE TABLE IF NOT EXISTS {table:one} (id UInt8) ENGINE = {engine:MergeTree()} ORDER BY id;\n'
  const second = 'CREATE TABLE IF NOT EXISTS {table:two} (id UInt8) ENGINE = {engine:MergeTree()} ORDER BY id;\n'

  test('runs again from its start after an error', async () => {
    const { clickhouseTables, connection, run, write } = await emptyDatabases()
    await write('clickhouse/0001_one.sql', `${first}SELECT * FROM nowhere;\n${second}`)
    await expect(run()).rejects.toThrow(
      /^clickhouse\/0001_one\.sql failed and will run again from its start: .*nowhere/,
    )
    expect((await connection.query('SELECT FROM migrations')).rowCount).toBe(0)
    await write('clickhouse/0001_one.sql', first + second)
    expect(await run()).toEqual(['clickhouse: 0001_one.sql'])
    expect(await clickhouseTables()).toEqual(['one', 'two'])
  })

  test('runs again from its start after its process was killed', async () => {
    const { env, folder, clickhouseTables, run, write } = await emptyDatabases()
    await write('clickhouse/0001_one.sql', `${first}SELECT sleep(3);\n${second}`)
    await killWhen(env, folder, async () => expect(await clickhouseTables()).toEqual(['one']))
    await write('clickhouse/0001_one.sql', first + second)
    expect(await run()).toEqual(['clickhouse: 0001_one.sql'])
    expect(await clickhouseTables()).toEqual(['one', 'two'])
  })
})

test('a file that changed after it was applied is refused, and nothing else runs', async () => {
  const { connection, run, write } = await emptyDatabases()
  await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);')
  await run()
  await write('postgres/0001_one.sql', 'CREATE TABLE one (id bigint);')
  await write('postgres/0002_two.sql', 'CREATE TABLE two (id int);')
  await expect(run()).rejects.toThrow('postgres/0001_one.sql was changed after it was applied. Add a new file.')
  expect(await listTables(connection)).toEqual(['migrations', 'one'])
})

test('while a migration waits for a table lock, others can read the table', async () => {
  const { connection, env, run, write } = await emptyDatabases()
  await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);\nINSERT INTO one VALUES (1);')
  await run()
  const long = openConnection(readConfig(env))
  await long.connect()
  onTestFinished(() => long.end())
  await long.query('BEGIN')
  await long.query('SELECT * FROM one')
  await write('postgres/0002_more.sql', 'ALTER TABLE one ADD COLUMN name text;')
  const migrating = run()
  await eventually(async () => {
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    expect((await connection.query(waiting)).rowCount).toBe(1)
  })
  // The SELECT queues behind the migration, which gives up its lock request after two seconds.
  expect((await connection.query('SELECT id FROM one')).rows).toEqual([{ id: 1 }])
  await long.query('COMMIT')
  expect(await migrating).toEqual(['postgres: 0002_more.sql'])
})

test('a file that begins with "-- outside a transaction" runs without one, and again after an error', async () => {
  const { connection, run, write } = await emptyDatabases()
  await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);\nINSERT INTO one VALUES (1), (1);')
  await run()
  const statements = `-- outside a transaction: writers must not wait.
DROP INDEX CONCURRENTLY IF EXISTS one_id;
CREATE UNIQUE INDEX CONCURRENTLY one_id ON one (id);`
  await write('postgres/0002_index.sql', statements)
  await expect(run()).rejects.toThrow(
    /0002_index\.sql failed and will run again from its start: could not create unique/,
  )
  await connection.query('TRUNCATE one')
  expect(await run()).toEqual(['postgres: 0002_index.sql'])
  const valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'one_id'::regclass"
  expect((await connection.query(valid)).rows).toEqual([{ indisvalid: true }])
})

test('a migration keeps stored data', async () => {
  const { clickhouse, connection, run, write } = await emptyDatabases()
  await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);')
  await write(
    'clickhouse/0001_one.sql',
    'CREATE TABLE {table:one} (id UInt8) ENGINE = {engine:MergeTree()} ORDER BY id;',
  )
  await run()
  await connection.query('INSERT INTO one SELECT generate_series(1, 1000)')
  await clickhouse.command({ query: 'INSERT INTO one SELECT number FROM numbers(200)' })
  await write('postgres/0002_more.sql', "ALTER TABLE one ADD COLUMN name text NOT NULL DEFAULT 'x';")
  await write('clickhouse/0002_more.sql', "ALTER TABLE {table:one} ADD COLUMN IF NOT EXISTS name String DEFAULT 'x';")
  expect(await run()).toEqual(['postgres: 0002_more.sql', 'clickhouse: 0002_more.sql'])
  const statement = "SELECT count(*) AS rows FROM one WHERE name = 'x'"
  expect((await connection.query(statement)).rows.map(({ rows }) => Number(rows))).toEqual([1_000])
  expect((await query<{ rows: number }>(clickhouse, statement, {})).map(({ rows }) => Number(rows))).toEqual([200])
})

test('a ClickHouse that lost everything gets all its tables again, and one that lost a table does not', async () => {
  const { clickhouse, clickhouseTables, run, write } = await emptyDatabases()
  await write('postgres/0001_one.sql', 'CREATE TABLE one (id int);')
  const create = (table: string) =>
    `CREATE TABLE IF NOT EXISTS {table:${table}} (id UInt8) ENGINE = {engine:MergeTree()} ORDER BY id;`
  await write('clickhouse/0001_one.sql', create('one'))
  await write('clickhouse/0002_two.sql', create('two'))
  const files = ['clickhouse: 0001_one.sql', 'clickhouse: 0002_two.sql']
  expect(await run()).toEqual(['postgres: 0001_one.sql', ...files])
  await clickhouse.command({ query: 'DROP TABLE one' })
  expect(await run()).toEqual([])
  await clickhouse.command({ query: 'DROP TABLE two' })
  expect(await run()).toEqual(files)
  expect(await clickhouseTables()).toEqual(['one', 'two'])
  expect(await run()).toEqual([])
})

/** Creates empty PostgreSQL and ClickHouse databases, and an empty folder for their migrations. */
async function emptyDatabases() {
  const env = { ...environment, ...(await createDatabases()) }
  const path = await mkdtemp(join(tmpdir(), 'tributary-migrations-'))
  folders.push(path)
  await Promise.all(['postgres', 'clickhouse'].map((engine) => mkdir(join(path, engine))))
  const folder = pathToFileURL(`${path}/`)
  const config = readConfig(env)
  const connection = openConnection(config)
  await connection.connect()
  const clickhouse = openClickHouse(config)
  onTestFinished(async () => {
    await connection.end()
    await clickhouse.close()
  })
  return {
    env,
    folder,
    connection,
    clickhouse,
    clickhouseTables: async () =>
      (await query<{ name: string }>(clickhouse, 'SHOW TABLES', {})).map((table) => table.name).toSorted(),
    write: (file: string, text: string) => writeFile(join(path, file), text),
    async run() {
      const lines: string[] = []
      const count = await migrate(config, clickhouse, (line) => lines.push(line), { folder })
      expect(count).toBe(lines.length)
      return lines
    },
  }
}

async function listTables(connection: pg.Client): Promise<string[]> {
  const found = await connection.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
  return found.rows.map((row) => row.name)
}

async function runMigrate(env: Record<string, string>): Promise<string[]> {
  const child = spawn(process.execPath, [main, 'migrate', '--json'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return ((await json(child.stdout)) as { applied: string[] }).applied
}

/** Migrates in a child process, and kills it as soon as `reached` does not throw. */
async function killWhen(env: Record<string, string>, folder: URL, reached: () => Promise<unknown>): Promise<void> {
  const script = `
    const { openClickHouse } = await import(${JSON.stringify(new URL('./clickhouse.ts', import.meta.url))})
    const { readConfig } = await import(${JSON.stringify(new URL('./config.ts', import.meta.url))})
    const { migrate } = await import(${JSON.stringify(new URL('./migrate.ts', import.meta.url))})
    const config = readConfig()
    await migrate(config, openClickHouse(config), () => {}, { folder: new URL(${JSON.stringify(folder)}) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  try {
    await eventually(reached, 20_000)
  } finally {
    child.kill('SIGKILL')
  }
  expect(await ended).toEqual([null, 'SIGKILL'])
}
