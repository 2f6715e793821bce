import type { Demand } from './demand.ts'
import { type Disk, sumBytes } from './disks.ts'
import type { Machine } from './machines.ts'

const defaults = { logDays: 30, logMegabytes: 18_432 }
// Clicks have this share of the streams' size.
const clicksShare = 27 / 32
const mostPartitions = 256
// Partitions limit how many workers share the log, so there are enough for four times the workers.
const growth = 4

/** Settings of Tributary that differ from their defaults. */
export function listSettings(demand: Demand, machines: Machine[], disks: Disk[]): Record<string, string> {
  const megabytes = Math.ceil(sumBytes(disks, ({ on }) => on === 'NATS') / clicksShare / 1e6)
  const workers = machines.find(({ role }) => role === 'worker')?.machines
  return {
    ...(demand.logDays !== defaults.logDays && { EVENT_RETENTION_DAYS: String(Math.ceil(demand.logDays)) }),
    ...(megabytes > defaults.logMegabytes && { EVENT_LOG_MAX_MEGABYTES: String(megabytes) }),
    ...(workers && {
      EVENT_PARTITIONS: String(Math.min(mostPartitions, workers * growth)),
      NATS_REPLICAS: '3',
      CLICKHOUSE_CLUSTER: 'tributary',
    }),
  }
}
