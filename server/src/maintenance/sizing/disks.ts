import { settings } from '../../platform/settings.ts'
import type { Basis, FactName } from './basis.ts'
import type { Demand } from './demand.ts'
import { formatCount, shorten } from './quantity.ts'

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
export const mebibyte = 2 ** 20
export const defaultLogMegabytes = Number(settings.EVENT_LOG_MAX_MEGABYTES.default)
export const leastLogBytes = defaultLogMegabytes * mebibyte

/** Bytes on disk at the end of the years. A conversion is a lead or a sale; a sale is the larger one. On one machine, everything but the backups has one copy. */
export function listDisks(demand: Demand, basis: Basis, isOne: boolean): Disk[] {
  const days = daysPerYear * demand.years
  const clicks = demand.clicksPerDay * days
  const conversions = demand.conversionsPerDay * days
  const disk = (name: string, on: string, copies: number, stored: number, why: string, from: FactName[]): Disk => {
    const bytesPerCopy = Math.ceil(stored)
    return { name, on, bytesPerCopy, copies, bytes: bytesPerCopy * copies, why, from }
  }
  const withSpare = (...[name, on, copies, stored, why, from]: Parameters<typeof disk>) =>
    disk(name, on, copies, stored * basis.spareDisk.value, why, [...from, 'spareDisk'])
  const copies = (separate: number) => (isOne ? 1 : separate)
  const size = (name: FactName) => basis[name].value
  const countedClicks = formatCount(clicks, 'click')
  const countedLinks = formatCount(demand.links, 'link')
  const loggedClicks = demand.clicksPerDay * demand.logDays
  const logBytes = (loggedClicks * size('logBytes')) / size('logFull') / size('logShare')
  const logMegabytes = Math.max(defaultLogMegabytes, Math.ceil(logBytes / mebibyte))
  const least = logMegabytes === defaultLogMegabytes ? `, at least EVENT_LOG_MAX_MEGABYTES=${defaultLogMegabytes}` : ''
  return [
    withSpare(
      'events',
      'ClickHouse',
      copies(demand.replicas),
      clicks * size('clickBytes') + conversions * size('saleBytes'),
      `${countedClicks}, ${shorten(conversions)} leads and sales`,
      ['clickBytes', 'saleBytes'],
    ),
    withSpare(
      'rollups',
      'ClickHouse',
      copies(demand.replicas),
      clicks * size('rollupBytes') + demand.links * size('attributeBytes'),
      `${countedClicks}, ${countedLinks}`,
      ['rollupBytes', 'attributeBytes'],
    ),
    disk(
      'event log',
      'NATS',
      copies(logCopies),
      logMegabytes * mebibyte,
      `${formatCount(loggedClicks, 'click')} of ${formatCount(demand.logDays, 'day')}${least}`,
      ['logBytes', 'logFull', 'logShare'],
    ),
    withSpare('links', 'PostgreSQL', copies(postgresCopies), demand.links * size('linkBytes'), countedLinks, [
      'linkBytes',
    ]),
    withSpare(
      'conversions',
      'PostgreSQL',
      copies(postgresCopies),
      conversions * size('conversionBytes'),
      formatCount(conversions, 'conversion'),
      ['conversionBytes'],
    ),
    disk(
      'backups',
      'elsewhere',
      demand.backups,
      clicks * size('backupClickBytes') +
        demand.links * size('backupLinkBytes') +
        conversions * size('backupConversionBytes'),
      `${countedClicks}, ${countedLinks}, ${formatCount(conversions, 'conversion')}`,
      ['backupClickBytes', 'backupLinkBytes', 'backupConversionBytes'],
    ),
  ]
}

/** The bytes of one copy of these disks. */
export function sumBytes(disks: Disk[], isCounted: (disk: Disk) => boolean): number {
  return disks.filter(isCounted).reduce((sum, { bytesPerCopy }) => sum + bytesPerCopy, 0)
}
