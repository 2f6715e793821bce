import { type Basis, type FactName, measuredCores } from './basis.ts'
import type { Demand } from './demand.ts'

/** Work at the peak that costs cores: how often a second, and what each costs in core seconds. */
export type Work = { name: string; perSecond: number; coreSeconds: number; from: FactName }

/**
 * The work of each role at the peak. A bench with everything on one machine does not tell the roles apart, so each role is charged
 * with the whole machine: more than it takes.
 */
export function listWork(demand: Demand, basis: Basis) {
  const peak = (perDay: number) => (perDay / 86_400) * demand.peakFactor
  const clicks = peak(demand.clicksPerDay)
  const work = (name: string, perSecond: number, from: FactName, coreSeconds: number): Work[] =>
    perSecond > 0 ? [{ name, perSecond, coreSeconds, from }] : []
  const shared = (from: FactName) => measuredCores / basis[from].value
  const micro = (from: FactName) => basis[from].value / 1e6
  const leads = (from: FactName) => work('conversions', peak(demand.conversionsPerDay), from, basis[from].value / 1e3)
  const links = work('new links', peak(demand.linksPerDay), 'linksPerSecond', shared('linksPerSecond'))
  const screens = work('screens', demand.screensPerSecond, 'screenMs', (basis.screenMs.value / 1e3) * measuredCores)
  const ingest = work('clicks', clicks, 'ingestPerSecond', shared('ingestPerSecond'))
  const caddy = work('visits', clicks, 'caddyMicroseconds', micro('caddyMicroseconds'))
  return {
    caddy,
    redirect: work('clicks', clicks, 'redirectsPerSecond', shared('redirectsPerSecond')),
    api: [...links, ...leads('leadApiMs'), ...screens],
    worker: ingest,
    nats: work('clicks', clicks, 'natsMicroseconds', micro('natsMicroseconds')),
    postgresql: [
      ...ingest,
      ...work('lookups', clicks, 'lookupMicroseconds', micro('lookupMicroseconds')),
      ...links,
      ...leads('leadPostgresMs'),
    ],
    valkey: work('clicks', clicks, 'valkeyMicroseconds', micro('valkeyMicroseconds')),
    clickhouse: [...ingest, ...screens],
    // Everything on one machine: the pipeline has all roles and engines of a click.
    one: [
      ...work('clicks', clicks, 'pipelinePerSecond', shared('pipelinePerSecond')),
      ...caddy,
      ...links,
      ...leads('leadApiMs'),
      ...leads('leadPostgresMs'),
      ...screens,
    ],
  }
}

/** Cores for this work, with the share of them that stays idle at the peak. */
export function countCores(works: Work[], basis: Basis): number {
  return works.reduce((sum, { perSecond, coreSeconds }) => sum + perSecond * coreSeconds, 0) / basis.busy.value
}
