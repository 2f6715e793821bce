import { type Basis, measuredCores } from './basis.ts'
import type { Demand } from './demand.ts'
import { type Disk, sumBytes } from './disks.ts'
import { countValkeyGb, type Machine, mostValkeyGb, oneMachine } from './machines.ts'
import { formatBytes, shorten } from './quantity.ts'

type Result = {
  peakClicksPerSecond: number
  machines: Machine[]
  disks: Disk[]
  settings: Record<string, string>
  isOne: boolean
}

const mostConversionBytes = 2e12
const measuredClicks = 50e6

/** What was not measured or is not built, for this demand. */
export function listCautions(
  demand: Demand,
  basis: Basis,
  { peakClicksPerSecond, machines, disks, settings, isOne }: Result,
): string[] {
  const { links, linksPerPostgresql, regions, replicas } = demand
  const find = (role: string) => machines.find((machine) => machine.role === role)
  const shards = (find('ClickHouse')?.machines ?? 0) / replicas
  const conversionBytes = sumBytes(disks, ({ name }) => name === 'conversions')
  const clicks = demand.clicksPerDay * 365 * demand.years
  const valkeyGb = countValkeyGb(demand, basis)
  const databases = Math.ceil(links / linksPerPostgresql)
  const cautions: [boolean, string][] = [
    [
      databases > 1,
      `NOT BUILT: ${shorten(links)} links are beyond one PostgreSQL (${shorten(linksPerPostgresql)} each, --links-per-postgresql). They need ${databases} PostgreSQL servers with the links sharded by domain: docs/adr/0043-links-beyond-one-postgresql.md.`,
    ],
    [
      valkeyGb > mostValkeyGb,
      `NOT BUILT: visits need ${Math.ceil(valkeyGb)} GB in one Valkey; several are not supported.`,
    ],
    [
      settings.EVENT_LOG_MAX_MEGABYTES !== undefined,
      "Raise max_file_store in NATS's configuration above EVENT_LOG_MAX_MEGABYTES first: otherwise each process halves the setting until it fits.",
    ],
    [
      conversionBytes > mostConversionBytes,
      `Leads and sales of all years stay in the first PostgreSQL: ${formatBytes(conversionBytes)}, and a restore of that much takes long. It is not built to move old ones elsewhere.`,
    ],
    [
      links > 1e6,
      `Lists and searches were measured with 1M links in a workspace (npm run bench:links), not with ${shorten(links)}.`,
    ],
    [
      clicks > measuredClicks,
      `Analytics screens were measured with ${shorten(measuredClicks)} clicks (npm run bench:reading), not with ${shorten(clicks)}.`,
    ],
    [
      isOne,
      'One machine has no second copy: if it fails, nothing is served until it is back. For failover: --layout separate.',
    ],
    [
      isOne &&
        ((machines[0]?.cores ?? 0) > oneMachine.mostCores || (machines[0]?.diskBytes ?? 0) > oneMachine.mostDiskBytes),
      `One machine of this size is more than we recommend (${oneMachine.mostCores} cores, ${formatBytes(oneMachine.mostDiskBytes)}): use --layout separate.`,
    ],
    [
      settings.CLICKHOUSE_CLUSTER !== undefined,
      'CLICKHOUSE_CLUSTER needs ClickHouse Keeper (three nodes), a cluster of this name in remote_servers, and the macros shard and replica on each server. They are neither counted nor shipped.',
    ],
    [
      shards > 1,
      `${shards} ClickHouse shards: CLICKHOUSE_CLUSTER creates the tables, but its speed has not been measured.`,
    ],
    [
      replicas === 1 && !isOne,
      'ClickHouse has one copy (--replicas 1): a lost disk is restored from the last backup and the log.',
    ],
    [
      regions > 1,
      'Redirects in other regions wait for the log in the first region, or run with CLICK_DURABILITY=async. Regional logs are not built.',
    ],
    [
      peakClicksPerSecond > basis.ingestPerSecond.value * basis.busy.value,
      `A workspace is in one partition, which one worker reads: at most ${shorten(basis.ingestPerSecond.value)} clicks/s for one workspace.`,
    ],
    [
      (find('PostgreSQL')?.cores ?? 0) > 64,
      'PostgreSQL would need more than 64 cores in one server. Lower --links-per-postgresql, or expect to shard earlier (docs/adr/0043-links-beyond-one-postgresql.md).',
    ],
    [
      true,
      `NATS and PostgreSQL sync to disk before they answer: ${basis.syncMs.value} ms on the measured machine. On a disk with 2 ms, each redirect takes 2 ms longer.`,
    ],
    [
      true,
      `All figures come from one machine with ${measuredCores} cores that also ran the load generator. Each role is charged with the whole machine, so the cores are upper bounds. Larger sizes are calculated, not tested: measure on your machines (npm run bench) before you buy many.`,
    ],
  ]
  return cautions.flatMap(([applies, text]) => (applies ? [text] : []))
}
