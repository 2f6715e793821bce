import { access, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { projectFolder } from '../engines/programs.ts'
import { planProcesses } from '../server/src/commands/supervise.ts'
import { countVisitorProcesses, readConfig } from '../server/src/platform/config.ts'
import { poolSize } from '../server/src/platform/postgres.ts'
import { semiSpaceMegabytes } from '../server/src/platform/supervisor.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { temporaryFolder } from './test/program.ts'
import { copyInstaller, install, readCompose } from './test/settings.ts'

const folder = await temporaryFolder()
afterAll(() => folder[Symbol.asyncDispose]())
await copyInstaller(folder.path)
await install(folder.path, ['--domain', 'go.example.com', '--email', 'me@example.com', '--settings-only'])
const single = await readCompose(folder.path, ['compose.yaml'])
const scaled = await readCompose(folder.path, ['compose.yaml', 'compose.scale.yaml'])
const ours = /^(server|migrate|worker|redirect-\d)$/

describe.each([
  ['compose.yaml', single],
  ['compose.scale.yaml', scaled],
])('%s', (_, { services }) => {
  const entries = Object.entries(services)

  test('gives Tributary valid settings', () => {
    for (const [name, { environment = {} }] of entries.filter(([name]) => ours.test(name))) {
      const config = readConfig(environment)
      expect(config.API_URL, name).toBe('https://api.go.example.com')
      expect([config.SHORT_DOMAIN, config.DOMAIN_CNAME]).toEqual(['go.example.com', 'go.example.com'])
      expect(config.TRUSTED_PROXIES).toEqual([services.caddy?.networks?.front?.ipv4_address])
    }
  })

  test('opens only the ports of Caddy, on IPv4, where Docker preserves client addresses', () => {
    const open = entries.flatMap(([name, { ports = [] }]) =>
      ports.map(({ host_ip, published, protocol }) => `${name} ${host_ip} ${published} ${protocol}`),
    )
    expect(open).toEqual(['caddy 0.0.0.0 80 tcp', 'caddy 0.0.0.0 443 tcp', 'caddy 0.0.0.0 443 udp'])
  })

  test('runs Tributary and Caddy non-root, on a read-only file system', () => {
    for (const [name, service] of entries) {
      expect(service.security_opt, name).toEqual(['no-new-privileges:true'])
      if (!ours.test(name) && !['caddy', 'valkey'].includes(name) && !name.startsWith('nats')) continue
      expect([name, service.read_only, service.cap_drop]).toEqual([name, true, ['ALL']])
    }
  })

  test('mounts existing files read-only', async () => {
    const mounts = entries.flatMap(([, { volumes = [] }]) => volumes.filter(({ type }) => type === 'bind'))
    expect(mounts.length).toBeGreaterThan(4)
    for (const { source, read_only } of mounts) {
      await access(join(projectFolder, relative(folder.path, source)))
      expect([source, read_only]).toEqual([source, true])
    }
  })

  test('refers only to hosts that are services, and waits for them', () => {
    for (const [name, { environment = {} }] of entries) {
      const text = Object.values(environment).join(' ')
      const hosts = [...text.matchAll(/(?<=[@ /])([a-z][a-z0-9-]*):\d{4}\b/g)].map(([, host = '']) => host)
      for (const host of hosts) expect(Object.keys(services), `${name} refers to ${host}`).toContain(host)
    }
    expect(services.server?.depends_on?.migrate?.condition).toBe('service_completed_successfully')
  })

  test('has a health check for every service', () => {
    for (const [name, { healthcheck, build }] of entries) {
      if (!build && name !== 'caddy') expect(healthcheck?.test?.length, name).toBeGreaterThan(1)
    }
  })
})

test('the memory limits of compose.yaml leave a 4 GB server some memory for its system', () => {
  const limits = Object.entries(single.services).map(([name, { mem_limit }]) => [name, Number(mem_limit)] as const)
  for (const [name, limit] of limits) expect(limit, name).toBeGreaterThan(0)
  const lasting = limits.filter(([name]) => name !== 'migrate').map(([, limit]) => limit)
  expect(lasting.reduce((sum, limit) => sum + limit, 0)).toBeLessThan(3.5 * 2 ** 30)
})

test('the heaps of all processes and their overhead fit the memory limit of the server', () => {
  const { mem_limit, environment = {} } = single.services.server ?? {}
  const config = readConfig(environment)
  const plans = planProcesses(config, countVisitorProcesses(config))
  expect(plans.map(({ role }) => role)).toEqual(['worker', 'api', 'redirect'])
  // Measured memory: 40 MB per process outside the heap, 70 MB for the supervisor, 60 MB of shared program text.
  const megabytes = plans.map(({ heapMegabytes }) => heapMegabytes + 3 * semiSpaceMegabytes + 40)
  expect(megabytes.reduce((sum, one) => sum + one, 70 + 60) * 2 ** 20).toBeLessThan(Number(mem_limit))
})

test('all pools together leave PostgreSQL connections for commands and for a second server during an upgrade', () => {
  const [, most] = /max_connections=(\d+)/.exec(single.services.postgres?.command?.join(' ') ?? '') ?? []
  const pools = (redirects: number) =>
    planProcesses(
      readConfig({ ...single.services.server?.environment, REDIRECT_PROCESSES: String(redirects) }),
      redirects,
    )
      .map(({ role }) => poolSize({ ROLES: [role as 'api'], REDIRECT_PROCESSES: redirects }))
      .reduce((sum, size) => sum + size, 0)
  expect(pools(1) * 2).toBeLessThan(Number(most) * 0.6)
  for (const redirects of [2, 8, 16, 40, 64]) expect(pools(redirects)).toBeLessThan(Number(most) * 0.85)
})

test("each database is configured to stay below its container's memory limit", async () => {
  const limit = (name: string) => Number(single.services[name]?.mem_limit)
  const text = (file: string) => readFile(join(import.meta.dirname, file), 'utf8')
  const [, clickhouse] = /<max_server_memory_usage>(\d+)</.exec(await text('clickhouse/server.xml')) ?? []
  const [, valkey] = /^maxmemory (\d+)mb$/m.exec(await text('valkey/valkey.conf')) ?? []
  expect(Number(clickhouse)).toBeLessThan(limit('clickhouse') * 0.85)
  expect(Number(valkey) * 2 ** 20).toBeLessThan(limit('valkey') * 0.8)
  for (const name of ['nats', 'caddy']) {
    const [, most] = /^(\d+)MiB$/.exec(single.services[name]?.environment?.GOMEMLIMIT ?? '') ?? []
    expect(Number(most) * 2 ** 20, name).toBeLessThan(limit(name) * 0.85)
  }
})

test('PostgreSQL accepts its command-line settings', async () => {
  const { db } = await openTestPlatform()
  for (const word of single.services.postgres?.command?.slice(1) ?? []) {
    const [, name = '', value] = /^--([a-z_]+)=(.+)$/.exec(word) ?? []
    const found = await sql<{ vartype: string }>`SELECT vartype FROM pg_settings WHERE name = ${name}`.execute(db)
    expect(found.rows, word).toHaveLength(1)
    expect(value, word).toMatch(found.rows[0]?.vartype === 'bool' ? /^(on|off)$/ : /^[\w.]+$/)
  }
})

test('compose.scale.yaml has separate roles, a spool for each redirect, and three NATS nodes with unique names', () => {
  const { services } = scaled
  const roles = Object.entries(services).map(([name, { environment }]) => [name, environment?.ROLES])
  expect(Object.fromEntries(roles.filter(([, role]) => role))).toEqual({
    server: 'api',
    'redirect-1': 'redirect',
    'redirect-2': 'redirect',
    worker: 'worker',
  })
  const spools = ['server', 'redirect-1', 'redirect-2'].map((name) => services[name]?.volumes?.[0]?.source)
  expect(new Set(spools).size).toBe(3)
  const nodes = ['nats', 'nats-2', 'nats-3'].map((name) => services[name])
  expect(nodes.map((node) => node?.environment?.NATS_NAME)).toEqual(['nats-1', 'nats-2', 'nats-3'])
  for (const node of nodes) expect(node?.command).toEqual(['--config', '/etc/nats/cluster.conf'])
  const stores = nodes.map((node) => node?.volumes?.find(({ target }) => target === '/data')?.source)
  expect(new Set(stores).size).toBe(3)
})
