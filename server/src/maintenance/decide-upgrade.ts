export type Verdict = 'ok' | 'warning' | 'problem'
export type Check = { check: string; verdict: Verdict; found: string; next?: string }

export type Versions = { postgres: string; clickhouse: string; nats: string; valkey: string }
type Migration = { engine: string; name: string; checksum: string }
export type Transaction = { pid: number; program: string; seconds: number }

// The minimum versions of PostgreSQL, ClickHouse, NATS and Valkey: Tributary was never tested with older ones.
const least: Record<keyof Versions, { version: string; verdict: Verdict }> = {
  postgres: { version: '15', verdict: 'problem' },
  clickhouse: { version: '25.3', verdict: 'warning' },
  nats: { version: '2.12', verdict: 'problem' },
  valkey: { version: '7.0', verdict: 'problem' },
}

export function judgeVersions(versions: Versions): Check[] {
  return (Object.keys(least) as (keyof Versions)[]).map((engine) => {
    const { version, verdict } = least[engine]
    const found = versions[engine]
    if (!found)
      return { check: engine, verdict: 'problem', found: 'no answer', next: `Check that ${engine} is running.` }
    if (!isOlder(found, version)) return { check: engine, verdict: 'ok', found }
    return { check: engine, verdict, found, next: `Upgrade ${engine} to ${version} or newer first.` }
  })
}

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

function isOlder(found: string, least: string): boolean {
  const [numbers, expected] = [found, least].map((text) =>
    (/\d+(\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number),
  )
  for (const [index, number] of (expected ?? []).entries()) {
    const difference = (numbers?.[index] ?? 0) - number
    if (difference !== 0) return difference < 0
  }
  return false
}

function migrationName({ engine, name }: Migration): string {
  return `${engine}/${name}`
}
