import { type ClickHouse, openClickHouse } from '../platform/clickhouse.ts'
import type { Config } from '../platform/config.ts'
import { ConfigError, readConfig } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'
import { type Db, openPostgres } from '../platform/postgres.ts'

export const jsonFlag = {
  json: { type: 'boolean', description: 'Print JSON instead of text', default: false },
} as const

type Handles = { config: Config; db: Db; clickhouse: ClickHouse }

/** Runs a command on the databases. What the user can mend is told in one line, with exit code 1. */
export async function onDatabases(work: (handles: Handles) => Promise<void>): Promise<void> {
  await reportProblems(async () => {
    const config = readConfig()
    const db = openPostgres(config)
    const clickhouse = openClickHouse(config)
    try {
      await work({ config, db, clickhouse })
    } finally {
      await clickhouse.close()
      await db.destroy()
    }
  })
}

export async function reportProblems(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.exitCode = 1
    if (error instanceof ConfigError || error instanceof AppError) console.error(error.message)
    else if (isConnectionProblem(error))
      console.error(`A database does not answer: ${messageOf(error)}. Is it running, and is its URL right?`)
    else if (isMissingTable(error)) console.error('The database has no tables yet. Run: tributary migrate')
    else console.error(error)
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

function isConnectionProblem(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'ECONNRESET'].includes((error as { code?: string }).code ?? '')
}

function isMissingTable(error: unknown): boolean {
  return (error as { code?: string }).code === '42P01'
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
