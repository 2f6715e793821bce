import { sql } from 'kysely'
import { inject } from 'vitest'
import { createDatabase } from '../../engines/postgres.ts'
import type { Platform } from '../src/platform/context.ts'
import { newId } from '../src/platform/ids.ts'
import { migrate } from '../src/platform/migrate.ts'
import { openTestPlatform } from './stack.ts'

/** A platform on a database of its own: no worker touches its rows or takes its messages. */
export async function openOwnDatabase(overrides: Record<string, string> = {}): Promise<Platform> {
  const { POSTGRES_URL } = inject('environment')
  const url = await createDatabase(POSTGRES_URL as string, `own_${newId('ws').slice(-12)}`)
  const platform = await openTestPlatform({ POSTGRES_URL: url, POSTGRES_POOL: '25', ...overrides })
  await migrate(platform.config, platform.clickhouse, () => {})
  return platform
}

/** What was published since the last call, in order; without the time, which every test would have to pass over. */
export async function takeMessages(platform: Platform): Promise<unknown[]> {
  const taken = await sql<{ id: bigint; body: object }>`DELETE FROM outbox RETURNING id, body`.execute(platform.db)
  return taken.rows.sort((one, other) => Number(one.id - other.id)).map(({ body }) => ({ ...body, at: undefined }))
}
