import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@clickhouse/client'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ensureBinaries } from './binaries.ts'
import { freePort } from './port.ts'
import { createDatabase } from './postgres.ts'
import { type Engines, startEngines } from './start.ts'

const systemTemporaryFolder = tmpdir()
let folder: string

beforeAll(async () => {
  await ensureBinaries(console.error)
  folder = await mkdtemp(join(systemTemporaryFolder, 'tributary-engines-test-'))
  execFileSync('chmod', ['755', folder])
  process.env.TMPDIR = folder
})

afterAll(async () => {
  process.env.TMPDIR = systemTemporaryFolder
  await rm(folder, { recursive: true, force: true })
})

describe('all four', () => {
  let engines: Engines

  beforeAll(async () => {
    engines = await startEngines()
  })

  test('postgres responds, restarts after kill -9 and keeps its rows', async () => {
    const url = await createDatabase(engines.urls.POSTGRES_URL, 'kept')
    await query(url, 'create extension pg_trgm')
    await query(url, 'create table kept as select 7 as id')
    await killAndRestart('postgres')
    expect(await query(url, 'select id from kept')).toEqual([{ id: 7 }])
  })

  test('postgres is durable, in UTF-8 and sorts by code point', async () => {
    const [database] = await query(
      engines.urls.POSTGRES_URL,
      `select current_setting('fsync') as fsync, current_setting('server_encoding') as encoding,
         current_setting('max_connections') as connections, 'a' < 'B' as "sortsLikeADictionary", upper('é') as upper`,
    )
    expect(database).toEqual({
      fsync: 'on',
      encoding: 'UTF8',
      connections: '200',
      sortsLikeADictionary: false,
      upper: 'É',
    })
  })

  test('nats responds, restarts after kill -9 and keeps its messages', async () => {
    const before = await connect({ servers: engines.urls.NATS_URL })
    await (await jetstreamManager(before)).streams.add({ name: 'kept', subjects: ['kept'] })
    await jetstream(before).publish('kept', 'hello')
    await before.close()
    await killAndRestart('nats')
    const after = await connect({ servers: engines.urls.NATS_URL })
    const message = await (await jetstreamManager(after)).streams.getMessage('kept', { seq: 1 })
    expect(message?.string()).toBe('hello')
    await after.close()
  })

  test('valkey responds and restarts empty', async () => {
    const valkey = new Redis(engines.urls.VALKEY_URL)
    expect(await valkey.set('key', 'value')).toBe('OK')
    await valkey.quit()
    await engines.processes.valkey?.restart()
    const again = new Redis(engines.urls.VALKEY_URL)
    expect(await again.get('key')).toBeNull()
    await again.quit()
  })

  test('clickhouse responds, restarts after kill -9 and keeps its rows', async () => {
    const clickhouse = createClient({ url: engines.urls.CLICKHOUSE_URL })
    await clickhouse.command({ query: 'CREATE TABLE kept (id UInt32) ENGINE = MergeTree ORDER BY id' })
    await clickhouse.insert({ table: 'kept', values: [{ id: 7 }], format: 'JSONEachRow' })
    await killAndRestart('clickhouse')
    const result = await clickhouse.query({ query: 'SELECT id FROM kept', format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ id: 7 }])
    await clickhouse.close()
  })

  test('stop leaves no process and no folder', async () => {
    const pids = Object.values(engines.processes).map(({ pid }) => pid)
    expect(pids.filter(isAlive)).toHaveLength(4)
    await Promise.all([engines.stop(), engines.stop()])
    expect(Object.values(engines.processes).map(({ exited }) => exited)).toEqual([true, true, true, true])
    expect(pids.filter(isAlive)).toEqual([])
    expect(processesNaming(folder)).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  async function killAndRestart(name: keyof Engines['processes']) {
    const engine = engines.processes[name]
    if (!engine) throw new Error(`${name} was not started`)
    const { pid } = engine
    engine.kill('SIGKILL')
    await expect.poll(() => engine.exited, { timeout: 30_000 }).toBe(true)
    await engine.restart()
    expect(engine.exited).toBe(false)
    expect(engine.pid).not.toBe(pid)
  }
})

test('a database with a given URL is not started', async () => {
  const env = { POSTGRES_URL: 'postgres://db.example/app', NATS_URL: 'nats://log.example', CLICKHOUSE_URL: '' }
  const engines = await startEngines({ only: ['postgres', 'nats'], env })
  expect(engines.urls).toEqual({ POSTGRES_URL: env.POSTGRES_URL, NATS_URL: env.NATS_URL })
  expect(engines.processes).toEqual({})
  await engines.stop()
})

test('a database listens on the given port', async () => {
  const port = await freePort()
  const engines = await startEngines({ only: ['valkey'], ports: { valkey: port } })
  expect(engines.urls.VALKEY_URL).toBe(`redis://127.0.0.1:${port}`)
  await engines.stop()
})

test('data in a given directory survives a stop', async () => {
  const directory = join(folder, 'mine')
  const first = await startEngines({ directory, only: ['postgres'] })
  const url = await createDatabase(first.urls.POSTGRES_URL, 'mine')
  await first.stop()
  const second = await startEngines({ directory, only: ['postgres'] })
  const newUrl = new URL(url)
  newUrl.port = new URL(second.urls.POSTGRES_URL).port
  expect(await query(newUrl.href, 'select current_database() as name')).toEqual([{ name: 'mine' }])
  await second.stop()
  expect(await readdir(directory)).toEqual(['postgres'])
  await rm(directory, { recursive: true })
})

test('a database that does not start is reported with its log and advice, and the others are stopped', async () => {
  const directory = join(folder, 'broken')
  await mkdir(join(directory, 'postgres/data'), { recursive: true })
  await writeFile(join(directory, 'postgres/data/PG_VERSION'), '18')
  const error = await startEngines({ directory, only: ['postgres', 'valkey'] }).catch((reason) => reason)
  expect(error.message).toMatch(/^postgres .* ended with code \d while starting\. .* its log:\n.*postgresql\.conf/s)
  expect(error.message).toMatch(/set POSTGRES_URL to a running server of your own/)
  expect(processesNaming(directory)).toEqual([])
  await rm(directory, { recursive: true })
})

test.each(['', 'Upper', 'a b', 'x"; drop', 'a'.repeat(64)])('refuses the database name %j', async (name) => {
  await expect(createDatabase('postgres://127.0.0.1:1/postgres', name)).rejects.toThrow('is not a database name')
})

describe('npm run engines', () => {
  const programs: ChildProcess[] = []

  afterEach(() => {
    for (const program of programs) program.kill()
  })

  test('prints the URLs and stops on SIGTERM', async () => {
    const { program, lines } = await startProgram()
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'POSTGRES_URL',
      'NATS_URL',
      'VALKEY_URL',
      'CLICKHOUSE_URL',
    ])
    const exited = once(program, 'exit')
    program.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(await readdir(folder)).toEqual([])
  })

  test('databases stop when their parent process dies, even by kill -9', async () => {
    const { program } = await startProgram()
    const [engineFolder = ''] = await readdir(folder)
    const pids = await Promise.all(
      ['postgres', 'nats', 'valkey', 'clickhouse'].map(async (name) => {
        const [, pid] = (await readFile(join(folder, engineFolder, name, 'pid'), 'utf8')).split(' ')
        return Number(pid)
      }),
    )
    expect(pids.filter(isAlive)).toHaveLength(4)
    program.kill('SIGKILL')
    await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([])
    await expect.poll(() => readdir(folder), { timeout: 10_000 }).toEqual([])
    await expect.poll(() => processesNaming(folder), { timeout: 10_000 }).toEqual([])
  })

  async function startProgram(): Promise<{ program: ChildProcess; lines: string[] }> {
    const program = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    programs.push(program)
    const lines: string[] = []
    createInterface(program.stdout).on('line', (line) => lines.push(line))
    await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(4)
    return { program, lines }
  }
})

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

function isAlive(pid: number): boolean {
  return processes().some((process) => process.pid === pid && !process.state.startsWith('Z'))
}

function processesNaming(text: string): string[] {
  return processes().flatMap(({ command }) => (command.includes(text) ? [command] : []))
}

function processes() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.map((line) => {
    const [pid, state = '', ...command] = line.trim().split(/\s+/)
    return { pid: Number(pid), state, command: command.join(' ') }
  })
}
