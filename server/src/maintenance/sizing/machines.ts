import type { Basis, FactName } from './basis.ts'
import type { Demand } from './demand.ts'
import { type Disk, logCopies, postgresCopies, sumBytes } from './disks.ts'
import { countCores, listWork } from './load.ts'
import { formatCount } from './quantity.ts'

export type Machine = {
  role: string
  machines: number
  cores: number
  memoryGb: number
  diskBytes: number
  why: string
  from: FactName[]
}

// Sizes of machines: rules, not measurements. Larger ones work; the numbers of machines follow from these.
const roleCores = 4
const engineCores = { least: 4, most: 16 }
const roleMemoryGb = 2
const engineMemoryGb = 4
const leastMemoryGb = 4
const clickHouseDiskBytes = 12e12
export const mostValkeyGb = 64
// The shipped limits of all engines, with 0.2 GB of Valkey, fit the least memory.
const includedValkeyGb = 0.2
export const oneMachine = { mostCores: 8, mostDiskBytes: 2e12 }

/** Whether one machine carries everything; it has no second copy and no failover. */
export function fitsOne(demand: Demand, basis: Basis, disks: Disk[]): boolean {
  if (demand.layout !== 'auto') return demand.layout === 'one'
  const bytes = sumBytes(disks, ({ on }) => on !== 'elsewhere')
  const cores = countCores(listWork(demand, basis).one, basis)
  const isLocal = demand.regions === 1 && demand.links <= demand.linksPerPostgresql
  return isLocal && cores <= oneMachine.mostCores && bytes <= oneMachine.mostDiskBytes
}

export function listMachines(demand: Demand, basis: Basis, disks: Disk[], isOne: boolean): Machine[] {
  const works = listWork(demand, basis)
  const need = (name: keyof typeof works) => countCores(works[name], basis)
  const valkeyGb = countValkeyGb(demand, basis)
  const explain = (name: keyof typeof works, extra: FactName[] = [], groups = 1): Pick<Machine, 'why' | 'from'> => ({
    why: works[name]
      .map(
        ({ name, perSecond, coreSeconds }) => `${formatCount(perSecond / groups, name)}/s × ${formatCost(coreSeconds)}`,
      )
      .join(' + '),
    from: [...works[name].map(({ from }) => from), ...extra, 'busy'],
  })
  if (isOne) {
    const cores = even(need('one'), 2)
    const diskBytes = sumBytes(disks, ({ on }) => on !== 'elsewhere')
    const valkeyExtraGb = Math.max(0, valkeyGb - includedValkeyGb)
    const memoryGb = need('one') < 1 ? leastMemoryGb : even(cores * engineMemoryGb + valkeyExtraGb, leastMemoryGb)
    return [
      { role: 'all roles and engines', machines: 1, cores, memoryGb, diskBytes, ...explain('one', ['visitBytes']) },
    ]
  }
  // If a region fails, the others carry its visitors.
  const { regions, replicas } = demand
  const inRegion = (name: 'redirect' | 'caddy') => regions * count(need(name) / Math.max(1, regions - 1), roleCores)
  const role = (name: string, machines: number, of: Parameters<typeof explain>[0]): Machine => ({
    role: name,
    machines,
    cores: roleCores,
    memoryGb: Math.max(leastMemoryGb, roleCores * roleMemoryGb),
    diskBytes: 0,
    ...explain(of),
  })
  const engine = (name: string, of: keyof typeof works, groups: number, copies: number, bytes: number): Machine => {
    const cores = even(need(of) / groups, engineCores.least)
    const diskBytes = Math.ceil(bytes / groups)
    const memoryGb = cores * engineMemoryGb
    return { role: name, machines: groups * copies, cores, memoryGb, diskBytes, ...explain(of, [], groups) }
  }
  const eventBytes = sumBytes(disks, ({ on }) => on === 'ClickHouse')
  const logBytes = sumBytes(disks, ({ on }) => on === 'NATS')
  const linkBytes = sumBytes(disks, ({ name }) => name === 'links')
  const shards = Math.max(
    Math.ceil(need('clickhouse') / engineCores.most),
    Math.ceil(eventBytes / clickHouseDiskBytes),
    1,
  )
  const postgresGroups = Math.ceil(demand.links / demand.linksPerPostgresql)
  // With links in several databases, the first one has all the rest.
  const postgresql = engine('PostgreSQL', 'postgresql', postgresGroups, postgresCopies, linkBytes)
  const conversionBytes = sumBytes(disks, ({ name }) => name === 'conversions')
  const logGroups = Math.max(1, Math.ceil(need('nats') / engineCores.most))
  return [
    role('Caddy', inRegion('caddy'), 'caddy'),
    role('redirect', inRegion('redirect'), 'redirect'),
    role('api', count(need('api'), roleCores), 'api'),
    role('worker', count(need('worker'), roleCores), 'worker'),
    engine('NATS', 'nats', logGroups, logCopies, logBytes),
    { ...postgresql, machines: postgresCopies, diskBytes: postgresql.diskBytes + conversionBytes },
    ...(postgresGroups > 1
      ? [{ ...postgresql, role: 'PostgreSQL for links', machines: (postgresGroups - 1) * postgresCopies }]
      : []),
    {
      role: 'Valkey',
      machines: Math.max(2, regions),
      cores: even(need('valkey'), 2),
      memoryGb: even(valkeyGb, leastMemoryGb),
      diskBytes: 0,
      ...explain('valkey', ['visitBytes', 'visitSeconds']),
    },
    engine('ClickHouse', 'clickhouse', shards, replicas, eventBytes),
  ]
}

/** Memory for the visits that Valkey remembers, if the peak lasts that long. */
export function countValkeyGb(demand: Demand, basis: Basis): number {
  const perSecond = listWork(demand, basis).valkey[0]?.perSecond ?? 0
  return (perSecond * basis.visitSeconds.value * basis.visitBytes.value * basis.spareDisk.value) / 1e9
}

/** At least two machines, so that one may fail. */
function count(cores: number, each: number): number {
  return Math.max(2, Math.ceil(cores / each))
}

function even(value: number, least: number): number {
  return Math.max(least, Math.ceil(value / 2) * 2)
}

function formatCost(seconds: number): string {
  return seconds < 0.001 ? `${Math.ceil(seconds * 1e6)} µs` : `${Number((seconds * 1e3).toPrecision(2))} ms`
}
