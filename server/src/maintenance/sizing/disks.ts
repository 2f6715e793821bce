import type { Basis, FactName } from './basis.ts'
import type { Demand } from './demand.ts'
import { shorten } from './quantity.ts'

export type Disk = {
  name: string
  on: string
  bytesPerCopy: number
  copies: number
  bytes: number
  why: string
  from: FactName[]
}

const daysPerYear = 365
export const logCopies = 3
export const postgresCopies = 2

/** Bytes on disk at the end of the years. A conversion is a lead or a sale; a sale is the larger one. On one machine, everything but the backups has one copy. */
export function listDisks(demand: Demand, basis: Basis, isOne: boolean): Disk[] {
  const days = daysPerYear * demand.years
  const clicks = demand.clicksPerDay * days
  const conversions = demand.conversionsPerDay * days
  const disk = (name: string, on: string, copies: number, stored: number, why: string, from: FactName[]): Disk => {
    const spare = on === 'NATS' ? 1 / basis.logFull.value : on === 'elsewhere' ? 1 : basis.spareDisk.value
    const bytesPerCopy = Math.ceil(stored * spare)
    const rule: FactName[] = on === 'NATS' ? ['logFull'] : on === 'elsewhere' ? [] : ['spareDisk']
    return { name, on, bytesPerCopy, copies, bytes: bytesPerCopy * copies, why, from: [...from, ...rule] }
  }
  const copies = (separate: number) => (isOne ? 1 : separate)
  const size = (name: FactName) => basis[name].value
  return [
    disk(
      'events',
      'ClickHouse',
      copies(demand.replicas),
      clicks * size('clickBytes') + conversions * size('saleBytes'),
      `${shorten(clicks)} clicks, ${shorten(conversions)} leads and sales`,
      ['clickBytes', 'saleBytes'],
    ),
    disk(
      'rollups',
      'ClickHouse',
      copies(demand.replicas),
      clicks * size('rollupBytes') + demand.links * size('attributeBytes'),
      `${shorten(clicks)} clicks, ${shorten(demand.links)} links`,
      ['rollupBytes', 'attributeBytes'],
    ),
    disk(
      'event log',
      'NATS',
      copies(logCopies),
      demand.clicksPerDay * demand.logDays * size('logBytes'),
      `${shorten(demand.clicksPerDay * demand.logDays)} clicks of ${demand.logDays} days`,
      ['logBytes'],
    ),
    disk(
      'links',
      'PostgreSQL',
      copies(postgresCopies),
      demand.links * size('linkBytes'),
      `${shorten(demand.links)} links`,
      ['linkBytes'],
    ),
    disk(
      'conversions',
      'PostgreSQL',
      copies(postgresCopies),
      conversions * size('conversionBytes'),
      `${shorten(conversions)} conversions`,
      ['conversionBytes'],
    ),
    disk(
      'backups',
      'elsewhere',
      demand.backups,
      clicks * size('backupClickBytes') + demand.links * size('backupLinkBytes'),
      `${shorten(clicks)} clicks, ${shorten(demand.links)} links`,
      ['backupClickBytes', 'backupLinkBytes'],
    ),
  ]
}

/** The bytes of one copy of these disks. */
export function sumBytes(disks: Disk[], isCounted: (disk: Disk) => boolean): number {
  return disks.filter(isCounted).reduce((sum, { bytesPerCopy }) => sum + bytesPerCopy, 0)
}
