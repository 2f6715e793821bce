import { settings } from '../../platform/settings.ts'
import type { Demand } from './demand.ts'
import { type Disk, defaultLogMegabytes, mebibyte, sumBytes } from './disks.ts'
import type { Machine } from './machines.ts'

const defaultLogDays = Number(settings.EVENT_RETENTION_DAYS.default)
const mostPartitions = 256
// Partitions limit how many workers share the log, so there are enough for four times the workers.
const growth = 4

/** Settings of Tributary that differ from their defaults. */
export function listSettings(demand: Demand, machines: Machine[], disks: Disk[]): Record<string, string> {
  const logMegabytes = Math.floor(sumBytes(disks, ({ on }) => on === 'NATS') / mebibyte)
  const count = (name: string) => machines.find(({ role }) => role === name)?.machines ?? 0
  const workers = count('worker')
  return {
    ...(demand.logDays !== defaultLogDays && { EVENT_RETENTION_DAYS: String(Math.ceil(demand.logDays)) }),
    ...(logMegabytes > defaultLogMegabytes && { EVENT_LOG_MAX_MEGABYTES: String(logMegabytes) }),
    ...(workers > 0 && {
      EVENT_PARTITIONS: String(Math.min(mostPartitions, workers * growth)),
      NATS_REPLICAS: '3',
    }),
    ...(count('ClickHouse') > 1 && { CLICKHOUSE_CLUSTER: 'tributary' }),
  }
}
