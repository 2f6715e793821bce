import { recordAudit } from '../features/audit/service.ts'
import { type ClickHouse, openClickHouse } from '../platform/clickhouse.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { ConfigError, readConfig } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'
import { MigrationError } from '../platform/migrate.ts'
import { type Db, openPostgres, transaction } from '../platform/postgres.ts'

export const jsonFlag = {
  json: { type: 'boolean', description: 'Print JSON instead of text', default: false },
} as const

export type Handles = { config: Config; db: Db; clickhouse: ClickHouse }

/** Runs a command with PostgreSQL and ClickHouse. Prints errors that the user can fix in one line; exit code 1. */
export async function onDatabases(work: (handles: Handles) => Promise<void>, patienceMs?: number): Promise<void> {
  await reportProblems(async () => {
    const config = readConfig()
    const db = openPostgres(config, 'command')
    const clickhouse = openClickHouse(config, undefined, patienceMs)
    try {
      await work({ config, db, clickhouse })
    } finally {
      await clickhouse.close()
      await db.destroy()
    }
  })
}

/** What a command changed. Without a workspace, its entry in the audit log is about the installation. */
type Changed = { workspaceId?: string; target: { kind: string; ids: string[] }; details?: object }

/** Runs a command that changes something and records it in one transaction, and then prints its result. */
export function onChange(
  { command, json }: { command: string; json: boolean },
  work: (handles: Handles) => Promise<Changed & { value: unknown; text: string }>,
): Promise<void> {
  return onDatabases(async (handles) => {
    const { value, text } = await transaction(handles, async (handles) => {
      const changed = await work(handles)
      await recordCommand(handles, command, changed)
      return changed
    })
    print(json, value, text)
  })
}

/** Records a command in the audit log. `onChange` does it by itself. */
export function recordCommand(
  handles: Pick<Handles, 'db' | 'config'>,
  command: string,
  { workspaceId, target, details }: Changed,
): Promise<void> {
  const actor = { kind: 'system', id: 'operator' } as const
  const event = { operation: `tributary ${command}`, actor, workspaceId, target, details }
  return recordAudit({ ...handles, now: systemClock }, event)
}

export async function reportProblems(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    console.error(findRemedy(error) ?? error)
  }
}

export function print(json: boolean, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value) : text)
}

export function table(rows: Record<string, string>[]): string {
  const names = Object.keys(rows[0] ?? {})
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)))
  const line = (cells: string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return [
    line(names.map((name) => name.toUpperCase())),
    ...rows.map((row) => line(names.map((name) => row[name] ?? ''))),
  ].join('\n')
}

export function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function findRemedy(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof AppError) return error.message
  const code = readCode(error) ?? readCode((error as Error).cause) ?? ''
  if (unreachable.includes(code)) {
    return `Connection failed: ${errorMessage(error)}. Check that the server runs and its URL is correct.`
  }
  if (code === '42P01') return 'The database has no tables yet. Run: tributary migrate'
  if (error instanceof MigrationError) return error.message
  if (refused.includes(code)) return `PostgreSQL refused the connection: ${errorMessage(error)}. Correct POSTGRES_URL.`
  return undefined
}

const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'ECONNRESET', 'EHOSTUNREACH']
// PostgreSQL error codes: unknown user, wrong password, unknown database.
const refused = ['28000', '28P01', '3D000']

function readCode(error: unknown): string | undefined {
  if (error instanceof AggregateError) return readCode(error.errors[0])
  return (error as { code?: string } | undefined)?.code
}

function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join('; ')
  return error instanceof Error ? error.message : String(error)
}
