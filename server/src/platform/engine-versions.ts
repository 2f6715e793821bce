import { readServer } from './clickhouse.ts'
import { sleep } from './clock.ts'
import { ConfigError, servesVisitorsOnly } from './config.ts'
import type { Platform } from './context.ts'
import { postgresVersion } from './postgres.ts'
import { valkeyVersion } from './valkey.ts'

export type Engine = 'postgres' | 'nats' | 'valkey' | 'clickhouse'
type Supported = Record<Engine, { name: string; least: string; newest: string }>

/** The oldest version of each engine that this release works with, and the newest that it was built for. */
export const supportedVersions: Supported = {
  postgres: { name: 'PostgreSQL', least: '15', newest: '18' },
  nats: { name: 'NATS', least: '2.12', newest: '2.15' },
  valkey: { name: 'Valkey or Redis', least: '7.0', newest: '8' },
  clickhouse: { name: 'ClickHouse', least: '25.3', newest: '26.7' },
}

export const inProcessProblem =
  'ClickHouse runs inside a Node process, which is for development and trials. Install the ClickHouse server: docs/guides/self-hosting.md, "The ClickHouse server"'

type Verdict = { verdict: 'supported' | 'too old' | 'newer'; problem?: string }

export function judgeVersion(engine: Engine, found: string, supported: Supported = supportedVersions): Verdict {
  const { name, least, newest } = supported[engine]
  if (compareVersions(found, least) < 0) {
    const problem = `${name} ${found} is too old: Tributary needs ${least} or newer. Upgrade ${name}, then start Tributary again.`
    return { verdict: 'too old', problem }
  }
  if (compareVersions(found, newest) <= 0) return { verdict: 'supported' }
  const problem = `${name} ${found} is newer than ${newest}, the newest version that this release was built for. If something fails, upgrade Tributary or return to ${newest}.`
  return { verdict: 'newer', problem }
}

type FoundVersions = Partial<Record<Engine, string | undefined>>
export type FoundEngines = { versions: FoundVersions; isClickHouseInProcess: boolean }
type EngineHandles = Pick<Platform, 'db' | 'nats' | 'valkey' | 'clickhouse'>

/** Asks the engines for their versions; undefined for one that does not answer within the time. */
export async function readEngines(
  { db, nats, valkey, clickhouse }: EngineHandles,
  { withinMs, withClickHouse = true }: { withinMs: number; withClickHouse?: boolean },
): Promise<FoundEngines> {
  const ended = new AbortController()
  const tooLate = sleep(withinMs, ended.signal).then(() => undefined)
  const inTime = <T>(asked: Promise<T>) => Promise.race([asked.catch(() => undefined), tooLate])
  const [postgres, valkeyFound, server] = await Promise.all([
    inTime(postgresVersion(db)),
    inTime(valkeyVersion(valkey, withinMs)),
    withClickHouse ? inTime(readServer(clickhouse)) : undefined,
  ])
  ended.abort()
  return {
    versions: { postgres, nats: nats.info?.version, valkey: valkeyFound, clickhouse: server?.version },
    isClickHouseInProcess: server?.isInProcess ?? false,
  }
}

const startWithinMs = 3_000
/** Shorter, because visitors wait for their process while it restarts. */
const visitorsWithinMs = 1_000

/**
 * Throws if an engine is too old, and logs warnings. An engine that does not answer is not checked, because roles start
 * while engines are down; `tributary migrate` has checked it. Only the worker warns, so that a warning appears once.
 */
export async function requireSupportedEngines(
  platform: Platform,
  { supported = supportedVersions, withinMs }: { supported?: Supported; withinMs?: number } = {},
): Promise<void> {
  const { config, log } = platform
  const servesVisitors = servesVisitorsOnly(config)
  const { versions, isClickHouseInProcess } = await readEngines(platform, {
    withinMs: withinMs ?? (servesVisitors ? visitorsWithinMs : startWithinMs),
    withClickHouse: !servesVisitors,
  })
  const verdicts = judgeVersions(versions, supported)
  if (!config.ROLES.includes('worker')) return
  for (const { problem } of verdicts) if (problem) log.warn(problem)
  if (isClickHouseInProcess && config.ENVIRONMENT === 'production') log.warn(inProcessProblem)
}

/** Judges the versions that are known; throws if one is too old. */
export function judgeVersions(versions: FoundVersions, supported = supportedVersions): Verdict[] {
  const verdicts = (Object.keys(supported) as Engine[]).flatMap((engine) => {
    const found = versions[engine]
    return found === undefined ? [] : [judgeVersion(engine, found, supported)]
  })
  const problems = verdicts.flatMap(({ verdict, problem = '' }) => (verdict === 'too old' ? [problem] : []))
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return verdicts
}

/** Compares as many numbers as `expected` has: 26.7.2.1 equals 26.7. */
function compareVersions(found: string, expected: string): number {
  const [numbers = [], least = []] = [found, expected].map((text) =>
    (/\d+(\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number),
  )
  for (const [index, number] of least.entries()) {
    const difference = (numbers[index] ?? 0) - number
    if (difference !== 0) return difference
  }
  return 0
}
