import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, inject } from 'vitest'
import { createDatabase } from '../../engines/postgres.ts'
import { startEngines } from '../../engines/start.ts'
import { openClickHouse } from '../src/platform/clickhouse.ts'
import { readConfig } from '../src/platform/config.ts'
import type { Platform } from '../src/platform/context.ts'
import { migrate } from '../src/platform/migrate.ts'
import { ensureStreams } from '../src/platform/nats.ts'
import { openTestPlatform } from './stack.ts'

const newName = () => `own_${randomUUID().replaceAll('-', '')}`

/** Opens a platform with its own PostgreSQL and ClickHouse databases, which no other worker uses. */
export async function openOwnDatabase(overrides: Record<string, string> = {}): Promise<Platform> {
  const url = overrides.POSTGRES_URL ?? (await createDatabase(inject('environment').POSTGRES_URL as string, newName()))
  const platform = await openTestPlatform({ POSTGRES_URL: url, POSTGRES_POOL: '25', ...overrides })
  await migrate(platform.config, platform.clickhouse, () => {})
  return platform
}

/** Creates empty PostgreSQL and ClickHouse databases; returns settings with their URLs. */
export async function createDatabases(): Promise<{ POSTGRES_URL: string; CLICKHOUSE_URL: string }> {
  const environment = inject('environment')
  const name = newName()
  const clickhouse = openClickHouse(readConfig(environment))
  await clickhouse.command({ query: `CREATE DATABASE ${name}` })
  await clickhouse.close()
  return {
    POSTGRES_URL: await createDatabase(environment.POSTGRES_URL as string, name),
    CLICKHOUSE_URL: new URL(`/${name}`, environment.CLICKHOUSE_URL).href,
  }
}

/** Starts a platform with its own NATS, Valkey and databases, with tables and streams; stopped after the file's tests. */
export async function openOwnEngines(overrides: Record<string, string> = {}, directory?: string) {
  const engines = await startEngines({ only: ['nats', 'valkey'], directory })
  const environment = { ...inject('environment'), ...engines.urls, ...(await createDatabases()), ...overrides }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  await ensureStreams(platform.nats, platform.config)
  afterAll(() => engines.stop())
  return { engines, environment, platform }
}

/** Returns the messages published since the last call, in order, without their times. */
export async function takeMessages(platform: Platform): Promise<unknown[]> {
  const taken = await sql<{ id: bigint; body: object }>`DELETE FROM outbox RETURNING id, body`.execute(platform.db)
  return taken.rows.sort((one, other) => Number(one.id - other.id)).map(({ body }) => ({ ...body, at: undefined }))
}
