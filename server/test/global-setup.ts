import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { newSecrets } from '../../demo/settings.ts'
import { ensureBinaries } from '../../engines/binaries.ts'
import { createDatabase } from '../../engines/postgres.ts'
import { startEngines } from '../../engines/start.ts'
import { openClickHouse } from '../src/platform/clickhouse.ts'
import { readConfig } from '../src/platform/config.ts'
import { migrate } from '../src/platform/migrate.ts'
import { type DnsServer, startDnsServer } from './dns-server.ts'
import { reachableLoopback } from './loopback.ts'
import { type ServerProcess, startServer } from './server-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Settings that all servers of this test run share. */
    environment: Record<string, string>
    /** URLs of a server with every role, for tests that don't start their own. */
    server: { api: string; redirect: string; ops: string }
    /** The only DNS server of this test run: `setZone(inject('dns'), …)`. */
    dns: { folder: string }
  }
}

type Stack = { environment: Record<string, string>; server: ServerProcess; dns: DnsServer; stop(): Promise<void> }
type Shared = { tributaryStack?: { users: number; started: Promise<Stack> } }

/** Vitest calls this once per project; all projects share one set of databases. */
export default async function setup(project: TestProject) {
  const shared = globalThis as Shared
  shared.tributaryStack ??= { users: 0, started: startStack() }
  const stack = shared.tributaryStack
  stack.users += 1
  const { environment, server, dns, stop } = await stack.started
  project.provide('environment', environment)
  project.provide('server', { api: server.api, redirect: server.redirect, ops: server.ops })
  project.provide('dns', { folder: dns.folder })
  return async () => {
    stack.users -= 1
    if (stack.users > 0) return
    delete shared.tributaryStack
    await stop()
  }
}

async function startStack(): Promise<Stack> {
  await ensureBinaries(console.error, process.env)
  const engines = await startEngines({ env: process.env })
  const folder = await mkdtemp(join(tmpdir(), 'tributary-test-'))
  const dns = await startDnsServer()
  const environment = {
    ...engines.urls,
    POSTGRES_URL: await createDatabase(engines.urls.POSTGRES_URL, `test_${randomUUID().replaceAll('-', '')}`),
    ...newSecrets(),
    ...reachableLoopback,
    DNS_SERVERS: dns.address,
    DOMAIN_CNAME: 'cname.tributary.example',
    DOMAIN_ADDRESSES: '192.0.2.10,2001:db8::10',
    SPOOL_DIRECTORY: folder,
    // Processes that tests start load their modules with half the CPU time.
    NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
    REDIRECT_PROCESSES: '1',
    ENVIRONMENT: 'development',
    EVENT_PARTITIONS: '2',
    INGEST_INTERVAL_MS: '100',
    // Long, because a busy test machine is slow, not broken.
    POSTGRES_WAIT_MS: '30000',
    // High, because all tests of a run count as one client.
    UNAUTHENTICATED_REQUESTS_PER_MINUTE: '1000000',
    LOG_LEVEL: 'info',
  }
  const config = readConfig(environment)
  const clickhouse = openClickHouse(config)
  await migrate(config, clickhouse, () => {})
  await clickhouse.close()
  const server = await startServer(environment)
  return {
    environment,
    server,
    dns,
    async stop() {
      await server.stop()
      await dns[Symbol.asyncDispose]()
      await engines.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
