import type { Basis, FactName } from './basis.ts'
import type { Demand } from './demand.ts'
import { type Disk, leastLogBytes } from './disks.ts'
import type { Machine } from './machines.ts'
import { formatBytes, shorten } from './quantity.ts'

/** What most of the cost comes from, and which option changes it. */
export type Driver = { name: string; amount: string; share?: number; change?: string; from: FactName[] }

const levers: Record<string, string> = {
  events: 'fewer --years or --replicas',
  rollups: 'fewer --years or --replicas',
  'event log': 'fewer --log-days',
  links: 'fewer --links',
  conversions: 'fewer --conversions-per-day or --years',
  backups: 'fewer --backups, --years or --conversions-per-day',
  redirect: 'a lower --peak-factor',
  worker: 'a lower --peak-factor',
  PostgreSQL: 'a lower --peak-factor, fewer --links-per-day or --conversions-per-day',
  'PostgreSQL for links': 'fewer --links, more --links-per-postgresql',
  ClickHouse: 'fewer --years, --replicas or --screens-per-second',
  Caddy: 'a lower --peak-factor',
}
// One machine has one copy, whatever --replicas says.
const leversOfOne: Record<string, string> = { ...levers, events: 'fewer --years', rollups: 'fewer --years' }
const most = 3

type Result = { machines: Machine[]; disks: Disk[]; isOne: boolean }

export function listDrivers(demand: Demand, basis: Basis, { machines, disks, isOne }: Result): Driver[] {
  const cores = machines.map(({ role, machines, cores, from }) => ({ name: role, size: machines * cores, from }))
  const stored = disks.map(({ name, bytes, bytesPerCopy, from }) => {
    // A log of the default size stays as large with fewer --log-days.
    const isFixed = name === 'event log' && bytesPerCopy === leastLogBytes
    return { name, size: bytes, change: isFixed ? undefined : (isOne ? leversOfOne : levers)[name], from }
  })
  const traffic = demand.clicksPerDay * 30 * basis.trafficBytes.value
  return [
    ...rank(stored).map(({ name, size, share, change, from }) => ({
      name: `disk for ${name}`,
      amount: formatBytes(size),
      share,
      change,
      from,
    })),
    ...(!isOne ? rank(cores) : []).map(({ name, size, share, from }) => ({
      name: `cores for ${name}`,
      amount: shorten(size),
      share,
      change: name === 'api' ? leverOfApi(demand) : levers[name],
      from,
    })),
    { name: 'traffic a month', amount: formatBytes(traffic), from: ['trafficBytes'] },
  ]
}

/** A new link takes the api about five times as long as a lead or sale. */
function leverOfApi({ linksPerDay, conversionsPerDay }: Demand): string {
  const most = conversionsPerDay > 5 * linksPerDay ? '--conversions-per-day' : '--links-per-day'
  return `fewer ${most} or --screens-per-second`
}

function rank<T extends { size: number }>(parts: T[]): (T & { share: number })[] {
  const total = parts.reduce((sum, { size }) => sum + size, 0)
  const sorted = parts.filter(({ size }) => size > 0).toSorted((one, other) => other.size - one.size)
  return sorted.slice(0, most).map((part) => ({ ...part, share: part.size / total }))
}
