import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { requireNats } from '../engines/nats.ts'
import { firstAnswer, freePort } from '../engines/port.ts'
import { findValkey } from '../engines/valkey.ts'
import { eventually } from '../server/test/stack.ts'
import { startProgram, temporaryFolder } from './test/program.ts'

const password = 'p0123456789abcdef'
const configured = (file: string) => join(import.meta.dirname, file)
const credentials = { user: 'tributary', pass: password }
const stream = (replicas: number) => ({ name: 'EVENTS_0', subjects: ['events.>'], num_replicas: replicas })

async function startNats(file: string, folder: string, env: Record<string, string> = {}) {
  const [port, healthPort] = [await freePort(), await freePort()]
  const program = await startProgram({
    command: await requireNats(),
    args: ['--config', configured(`nats/${file}`)],
    env: {
      NATS_LISTEN: `127.0.0.1:${port}`,
      NATS_HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
      NATS_STORE: folder,
      NATS_PASSWORD: password,
      ...env,
    },
    answers: () => fetch(`http://127.0.0.1:${healthPort}/varz`),
  })
  return { ...program, server: `127.0.0.1:${port}`, health: `http://127.0.0.1:${healthPort}` }
}

test('nats.conf: NATS acknowledges after a sync to disk, and requires the password', async () => {
  await using folder = await temporaryFolder()
  await using nats = await startNats('nats.conf', folder.path)
  const { jetstream } = (await (await fetch(`${nats.health}/varz`)).json()) as { jetstream: { config: object } }
  expect(jetstream.config).toMatchObject({ sync_always: true, store_dir: join(folder.path, 'jetstream') })
  expect((await fetch(`${nats.health}/healthz?js-enabled-only=true`)).status).toBe(200)
  await expect(connect({ servers: nats.server })).rejects.toThrow(/Authorization/i)
  const connection = await connect({ servers: nats.server, ...credentials })
  const manager = await jetstreamManager(connection)
  expect((await manager.streams.add(stream(1))).config.storage).toBe('file')
  await connection.close()
})

test('cluster.conf: three nodes form a cluster and store a stream with three replicas', async () => {
  await using parts = new AsyncDisposableStack()
  const { path } = parts.use(await temporaryFolder())
  const routePorts = [await freePort(), await freePort(), await freePort()]
  const routes = `[${routePorts.map((port) => `nats://cluster:${password}@127.0.0.1:${port}`).join(', ')}]`
  const nodes = await Promise.all(
    routePorts.map((port, index) =>
      startNats('cluster.conf', join(path, String(index)), {
        NATS_NAME: `nats-${index + 1}`,
        NATS_CLUSTER_LISTEN: `127.0.0.1:${port}`,
        NATS_ROUTES: routes,
      }),
    ),
  )
  for (const node of nodes) parts.use(node)
  const connection = await connect({ servers: nodes.map(({ server }) => server), ...credentials })
  parts.defer(() => connection.close())
  const info = await eventually(async () => {
    const manager = await jetstreamManager(connection)
    return manager.streams.add(stream(3))
  }, 30_000)
  expect(info.config.num_replicas).toBe(3)
  await eventually(async () => {
    const { cluster } = await (await jetstreamManager(connection)).streams.info('EVENTS_0')
    expect(cluster?.replicas?.map(({ current }) => current)).toEqual([true, true])
  }, 30_000)
})

test('valkey.conf: bounded memory, nothing on disk, a password', async () => {
  const port = await freePort()
  await using folder = await temporaryFolder()
  const included = join(folder.path, 'password.conf')
  await writeFile(included, `requirepass ${password}\n`)
  await using _valkey = await startProgram({
    command: (await findValkey()) ?? 'redis-server',
    args: [
      configured('valkey/valkey.conf'),
      ...['--include', included, '--bind', '127.0.0.1', '--port', String(port), '--dir', folder.path],
    ],
    answers: () => firstAnswer(port, 'PING\r\n', /^-NOAUTH/),
  })
  const client = new Redis({ port, password })
  const settings = await Promise.all(
    ['maxmemory-policy', 'maxmemory', 'save'].map((name) => client.config('GET', name)),
  )
  client.disconnect()
  expect(settings).toEqual([
    ['maxmemory-policy', 'allkeys-lru'],
    ['maxmemory', String(192 * 2 ** 20)],
    ['save', ''],
  ])
})

// ClickHouse silently accepts unknown settings, so the test checks that each setting has an effect.
const serverSettings = {
  max_server_memory_usage: '1200000000',
  mark_cache_size: '134217728',
  index_mark_cache_size: '33554432',
  uncompressed_cache_size: '0',
  mmap_cache_size: '64',
  background_pool_size: '2',
  background_merges_mutations_concurrency_ratio: '2',
  background_schedule_pool_size: '8',
  background_move_pool_size: '1',
  background_fetches_pool_size: '1',
  background_common_pool_size: '2',
}
const userSettings = {
  max_memory_usage: '600000000',
  max_bytes_before_external_group_by: '250000000',
  max_bytes_before_external_sort: '250000000',
  max_threads: '2',
}
test('server.xml and users.xml: ClickHouse applies every setting', async () => {
  await using folder = await temporaryFolder()
  const port = await freePort()
  await using _clickhouse = await startProgram({
    command: process.execPath,
    args: ['engines/clickhouse-server/main.ts'],
    env: {
      CH_PATH: join(folder.path, 'data'),
      CH_PORT: String(port),
      CH_ARGS: `--config-file=${await clickHouseConfiguration(folder.path)} --log-level=warning`,
      CLICKHOUSE_PASSWORD: password,
    },
    answers: () => fetch(`http://127.0.0.1:${port}/ping`),
  })
  const ask = async (query: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/?default_format=JSONCompactEachRow`, {
      method: 'POST',
      body: query,
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  const changed = (table: string) => ask(`SELECT name, value FROM system.${table} WHERE changed`)
  expect(Object.fromEntries(await changed('server_settings'))).toMatchObject(serverSettings)
  expect(Object.fromEntries(await changed('settings'))).toMatchObject(userSettings)
  expect(await changed('merge_tree_settings')).toHaveLength(3)
  expect(await ask('SELECT name, auth_type FROM system.users ORDER BY name')).toContainEqual([
    'tributary',
    ['plaintext_password'],
  ])
})

// chdb has no such system tables, so the test checks the text of the file.
test('server.xml: ClickHouse keeps its own logs for at most three days', async () => {
  const text = await readFile(configured('clickhouse/server.xml'), 'utf8')
  const logs = ['error_log', 'part_log', 'query_log']
  for (const name of logs) expect(text).toContain(`<${name}><ttl>event_date + INTERVAL 3 DAY DELETE</ttl></${name}>`)
  const others = `asynchronous_metric_log background_schedule_pool_log latency_log metric_log opentelemetry_span_log
    processors_profile_log query_metric_log query_thread_log query_views_log session_log text_log trace_log`
  for (const name of others.split(/\s+/)) expect(text).toContain(`<${name} remove="1"/>`)
})

/** Writes a ClickHouse configuration for a test folder. chdb signs in as `default`, a user that users.xml removes. */
async function clickHouseConfiguration(folder: string): Promise<string> {
  for (const part of ['config.d', 'users.d']) await mkdir(join(folder, part), { recursive: true })
  await cp(configured('clickhouse/server.xml'), join(folder, 'config.d/tributary.xml'))
  await cp(configured('clickhouse/users.xml'), join(folder, 'users.d/tributary.xml'))
  const users = join(folder, 'users.xml')
  await writeFile(join(folder, 'config.xml'), `<clickhouse><users_config>${users}</users_config></clickhouse>`)
  const defaults = '<profiles><default/></profiles><quotas><default/></quotas>'
  await writeFile(users, `<clickhouse>${defaults}<users><default><password/></default></users></clickhouse>`)
  const own = '<password/><profile>default</profile><quota>default</quota><networks><ip>::/0</ip></networks>'
  await writeFile(
    join(folder, 'users.d/zz-test.xml'),
    `<clickhouse><users><default>${own}<access_management>1</access_management></default></users></clickhouse>`,
  )
  return join(folder, 'config.xml')
}
