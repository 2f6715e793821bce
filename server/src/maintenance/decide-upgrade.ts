import {
  type Engine,
  type FoundEngines,
  inProcessProblem,
  judgeVersion,
  supportedVersions,
} from '../platform/engine-versions.ts'

export type Verdict = 'ok' | 'warning' | 'problem'
export type Check = { check: string; verdict: Verdict; found: string; next?: string }

type Migration = { engine: string; name: string; checksum: string }
export type Transaction = { pid: number; program: string; seconds: number }

export function judgeEngines({ versions, isClickHouseInProcess }: FoundEngines, isProduction: boolean): Check[] {
  const checks = (Object.keys(supportedVersions) as Engine[]).map((check): Check => {
    const found = versions[check]
    if (!found) return { check, verdict: 'problem', found: 'no answer', next: `Check that ${check} is running.` }
    const { verdict, problem } = judgeVersion(check, found)
    return { check, verdict: verdicts[verdict], found, ...(problem && { next: problem }) }
  })
  if (!isClickHouseInProcess || !isProduction) return checks
  const inProcess: Check = {
    check: 'clickhouse',
    verdict: 'warning',
    found: 'in a Node process',
    next: inProcessProblem,
  }
  return [...checks, inProcess]
}

const verdicts = { supported: 'ok', newer: 'warning', 'too old': 'problem' } as const

export function judgeMigrations(known: Migration[], applied: Migration[]): Check[] {
  const there = new Map(applied.map((file) => [migrationName(file), file.checksum]))
  const ours = new Set(known.map(migrationName))
  const pending = known.filter((file) => !there.has(migrationName(file))).map(migrationName)
  const changed = known
    .filter((file) => (there.get(migrationName(file)) ?? file.checksum) !== file.checksum)
    .map(migrationName)
  const unknown = applied.map(migrationName).filter((name) => !ours.has(name))
  const checks: Check[] = []
  if (changed.length > 0) {
    const next = 'These files were edited after they were applied. Install the release again.'
    checks.push({ check: 'migrations', verdict: 'problem', found: `changed: ${changed.join(', ')}`, next })
  }
  if (unknown.length > 0) {
    const next = 'The databases are from a newer version. Install that version, or restore a backup of this one.'
    checks.push({ check: 'migrations', verdict: 'problem', found: `unknown: ${unknown.join(', ')}`, next })
  }
  const next = applied.length === 0 ? 'Next: tributary migrate.' : 'Next: tributary backup, then tributary migrate.'
  const found = pending.length > 0 ? `pending: ${pending.join(', ')}` : 'up to date'
  checks.push({ check: 'migrations', verdict: 'ok', found, ...(pending.length > 0 && { next }) })
  return checks
}

/** Warns about long transactions: a migration waits for their table locks, and gives up after minutes. */
export function judgeTransactions(long: Transaction[]): Check {
  if (long.length === 0) return { check: 'transactions', verdict: 'ok', found: 'no long transactions' }
  const found = long
    .map(({ pid, program, seconds }) => `${program || 'unnamed'} (process ${pid}, ${seconds} s)`)
    .join(', ')
  return {
    check: 'transactions',
    verdict: 'warning',
    found,
    next: 'A migration may have to wait for these transactions. Let them end first.',
  }
}

function migrationName({ engine, name }: Migration): string {
  return `${engine}/${name}`
}
