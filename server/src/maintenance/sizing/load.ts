import { type Basis, type FactName, measuredCores } from './basis.ts'
import type { Demand } from './demand.ts'

/** Work at the peak that costs cores: what it is, in the singular, how often a second, and what each costs in core seconds. */
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
  const leads = (from: FactName) => work('conversion', peak(demand.conversionsPerDay), from, basis[from].value / 1e3)
  const links = work('new link', peak(demand.linksPerDay), 'linksPerSecond', shared('linksPerSecond'))
  const screens = work('screen', demand.screensPerSecond, 'screenMs', (basis.screenMs.value / 1e3) * measuredCores)
  const ingest = work('click', clicks, 'ingestPerSecond', shared('ingestPerSecond'))
  const caddy = work('visit', clicks, 'caddyMicroseconds', micro('caddyMicroseconds'))
  return {
    caddy,
    redirect: work('click', clicks, 'redirectsPerSecond', shared('redirectsPerSecond')),
    api: [...links, ...leads('leadApiMs'), ...screens],
    worker: ingest,
    nats: work('click', clicks, 'natsMicroseconds', micro('natsMicroseconds')),
    postgresql: [
      ...ingest,
      ...work('lookup', clicks, 'lookupMicroseconds', micro('lookupMicroseconds')),
      ...links,
      ...leads('leadPostgresMs'),
    ],
    valkey: work('click', clicks, 'valkeyMicroseconds', micro('valkeyMicroseconds')),
    clickhouse: [...ingest, ...screens],
    // Everything on one machine: the pipeline has all roles and engines of a click.
    one: [
      ...work('click', clicks, 'pipelinePerSecond', shared('pipelinePerSecond')),
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
