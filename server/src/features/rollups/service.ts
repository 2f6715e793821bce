import { randomUUID } from 'node:crypto'
import { chunks } from '../../platform/batches.ts'
import type { QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { memoByObject, openAsyncMemo } from '../../platform/memo.ts'
import {
  appendClicks,
  appendMissingConversions,
  type DeletedClick,
  type DeletedRows,
  deleteClicks,
  deleteConversion,
  lockOutConversions,
  type NewClick,
  type NewConversions,
  restoreClicks,
  restoreConversions,
  visitsById,
} from '../event-storage/service.ts'
import { type Foldables, markFolded } from './fold.ts'
import {
  type CountCorrection,
  completeStarts,
  type FoldedRange,
  insertCorrections,
  type LinkRange,
  type RollupRange,
  repairRollup,
  type Starts,
  selectDifferences,
  selectFolded,
  selectMonths,
  selectPeople,
  selectStarts,
  selectStored,
} from './store.ts'
import {
  type Count,
  type Dimension,
  describeDimension,
  foldable,
  type Rollup,
  type Source,
  sources,
  sums,
  urlDimensions,
} from './sums.ts'

type Reading = Pick<Platform, 'clickhouse'>
type Engines = Pick<Platform, 'clickhouse' | 'db' | 'config'>
export type Difference = {
  rollup: Rollup
  count: Count
  workspaceId: string
  buckets: number
  missing: number
  surplus: number
}

/** Rollup tables for other features to read; only this feature and materialized views write to them. */
export const rollupTables = {
  workspaceCounts: 'workspace_counts',
  linkCounts: 'link_counts',
  linkDays: 'link_days',
  linkMonths: 'link_months',
  dimensionCounts: 'dimension_counts',
  dimensionMonths: 'dimension_months',
} as const
// ClickHouse query parameters are part of the URL, whose length servers limit.
const repairedAtOnce = 100

/** Flags rare values of each event, which the daily rollup counts in one total (ROLLUP_VALUES_PER_DAY). */
export function foldRareValues(platform: Pick<Platform, 'clickhouse' | 'config'>, rows: Foldables[]): Promise<void> {
  return markFolded(platform, rows)
}

export function monthsOfEvents(platform: Reading, workspaceId?: string): Promise<string[]> {
  return selectMonths(platform.clickhouse, workspaceId)
}

/** The SQL of a dimension's value in an event row. */
export function findDimension(name: string): Dimension {
  return describeDimension(name)
}

const startsTtlMs = 30_000
const openStarts = memoByObject((_: Platform['config']) =>
  openAsyncMemo<Starts>({ maxBytes: 1_000, ttlMs: () => startsTtlMs }),
)

/** The first complete days of the rollups that were added after the first release. */
export function rollupStarts({ db, config }: Pick<Platform, 'db' | 'config'>): Promise<Starts> {
  return openStarts(config)('', async () => {
    const days = Object.fromEntries((await selectStarts(db)).map(({ rollup, first_day }) => [rollup, first_day]))
    const always = '1970-01-01'
    return { linkDays: days.link_days ?? always, urls: days.urls ?? always, months: days.months ?? always }
  })
}

/** Records that all rollups have all days, after a repair of everything. */
export function completeRollups({ db }: Pick<Platform, 'db'>): Promise<void> {
  return completeStarts(db)
}

export function isUrlDimension(name: string): boolean {
  return urlDimensions.includes(name)
}

/**
 * Those of the dimensions whose values the daily rollup counts in part only in one total, because there were too many
 * on a day of these ranges: then only event rows are exact.
 */
export async function foldedDimensions(
  { clickhouse, workspaceId }: Pick<Ctx, 'clickhouse' | 'workspaceId'>,
  dimensions: string[],
  ranges: { rollup: keyof typeof rollupTables; from: number; to: number }[],
  limits: QueryLimits,
): Promise<string[]> {
  const possible = dimensions.filter((dimension) => (foldable as readonly string[]).includes(dimension))
  const buckets = ranges.map(({ rollup, from, to }) => ({
    table: rollupTables[rollup] as FoldedRange['table'],
    from,
    to,
  }))
  if (possible.length === 0 || buckets.length === 0) return []
  return selectFolded(clickhouse, { workspaceId, dimensions: possible, ranges: buckets }, limits)
}

/** Differences between a month's rollups and its event rows. */
export async function rollupDifferences(platform: Reading, range: RollupRange): Promise<Difference[]> {
  const found: Difference[] = []
  for (const sum of sums) {
    for (const row of await selectDifferences(platform.clickhouse, sum, range)) {
      const size = { buckets: Number(row.buckets), missing: Number(row.missing), surplus: Number(row.surplus) }
      found.push({ rollup: sum.rollup, count: row.counted, workspaceId: row.workspace_id, ...size })
    }
  }
  return found
}

/** Rebuilds a month's rollups from its event rows. Inserts of these events must be locked meanwhile. */
export async function repairRollups(
  platform: Reading,
  range: Omit<RollupRange, 'workspaceId'> & { workspaceIds: string[] },
  of: Source[] = sources,
): Promise<void> {
  for (const workspaceIds of chunks(range.workspaceIds, repairedAtOnce)) {
    for (const sum of sums.filter(({ source }) => of.includes(source)))
      await repairRollup(platform.clickhouse, sum, { ...range, workspaceIds })
  }
}

/**
 * Inserts a batch of clicks again after an interruption. A ClickHouse that is killed at the wrong moment can remember
 * an insert's deduplication token but lose its rows or rollup counts, and then ignores a repeated insert: so both are
 * checked and repaired. Concurrent inserts for these workspaces are not allowed.
 */
export async function appendClicksAgain(platform: Engines, clicks: NewClick[], token: string): Promise<void> {
  await appendClicks(platform, clicks, token)
  await restoreClicks(platform, clicks, `${token}:${randomUUID()}`)
  await repairDays(platform, clicks, ['clicks'])
}

/** Inserts the missing clicks of a divided batch: earlier attempts may have stored some with another token. */
export async function appendMissingClicks(platform: Engines, clicks: NewClick[], token: string): Promise<void> {
  const missing = await withoutVisit(platform, clicks)
  await appendClicks(platform, missing, token)
  const lost = await withoutVisit(platform, missing)
  if (lost.length > 0) await restoreClicks(platform, lost, `${token}:${randomUUID()}`)
  // Materialized views already update the rollups for rows that the insert adds.
  if (lost.length > 0 || missing.length < clicks.length) await repairDays(platform, clicks, ['clicks'])
}

/** Returns the clicks that ClickHouse has no row for. */
async function withoutVisit(platform: Reading, clicks: NewClick[]): Promise<NewClick[]> {
  if (clicks.length === 0) return []
  const named = clicks.map(({ workspace_id, id_text, timestamp }) => {
    return { workspaceId: workspace_id, id: id_text, at: timestamp }
  })
  const visits = await visitsById(platform, named)
  const stored = new Set(visits.map(({ id_text, is_bot, at }) => `${id_text} ${is_bot === 1} ${at}`))
  return clicks.filter(({ id_text, bot, timestamp }) => !stored.has(`${id_text} ${bot !== ''} ${timestamp}`))
}

/** Deletes clicks that must be neither stored nor counted. Corrects the rollups first: see `deleteClicks`. */
export async function removeClicks(platform: Engines, clicks: DeletedClick[]): Promise<void> {
  for (const [workspaceId, mine] of Map.groupBy(clicks, ({ workspaceId }) => workspaceId)) {
    const days = mine.map(({ at }) => ({ workspace_id: workspaceId, timestamp: at }))
    await deleteClicks(platform, workspaceId, mine, (without) => repairDays(platform, days, ['clicks'], without))
  }
}

/** Inserts leads and sales again after an interruption, and repairs their rollups. Blocks other inserts meanwhile. */
export async function appendConversionsAgain(platform: Engines, rows: NewConversions, token: string): Promise<void> {
  await lockOutConversions(platform)
  // A worker that seemed dead may still insert this batch: with the same token, ClickHouse ignores that insert.
  await appendMissingConversions(platform, rows, token)
  await restoreConversions(platform, rows)
  await repairDays(platform, [...rows.leads, ...rows.sales], ['leads', 'sales'])
}

/** Deletes a lead, sale or refund. Corrects the rollups first: see `deleteConversion`. */
export async function removeConversions(
  platform: Engines & Pick<Platform, 'config'>,
  kind: 'leads' | 'sales',
  conversion: { workspaceId: string; id: string; at: number },
): Promise<void> {
  await lockOutConversions(platform)
  const day = { workspace_id: conversion.workspaceId, timestamp: conversion.at }
  await deleteConversion(platform, kind, conversion, (without) => repairDays(platform, [day], [kind], without))
}

async function repairDays(
  platform: Reading,
  rows: { workspace_id: string; timestamp: number }[],
  of: Source[],
  without?: DeletedRows,
): Promise<void> {
  const workspaceIds = [...new Set(rows.map(({ workspace_id }) => workspace_id))]
  const days = [...new Set(rows.map(({ timestamp }) => new Date(timestamp).toISOString().slice(0, 10)))].sort()
  for (const [month, [from]] of Map.groupBy(days, (day) => `${day.slice(0, 7)}-01`))
    await repairRollups(platform, { workspaceIds, month, from, without }, of)
}

export type LinkPeople = { workspaceId: string; linkNumber: bigint; rows: number; doubled: number; last: Date }

/**
 * Stored clicks by people per link, for a range of link numbers, and how many of them are duplicates. Includes expired
 * clicks, which only rollups still count.
 */
export async function peopleByLink(platform: Reading, range: LinkRange): Promise<LinkPeople[]> {
  const rows = await selectPeople(platform.clickhouse, range)
  const people = new Map(rows.map((row) => [`${row.workspace_id} ${row.number}`, row]))
  const stored = await selectStored(platform.clickhouse, 'clicks', range)
  return stored.map(({ workspace_id, number, stored: [clicks], last_bucket }) => {
    const { doubled = 0, last = Number(last_bucket) * 1_000 } = people.get(`${workspace_id} ${number}`) ?? {}
    return {
      workspaceId: workspace_id,
      linkNumber: BigInt(number),
      rows: Number(clicks),
      doubled: Number(doubled),
      last: new Date(Number(last)),
    }
  })
}

export type StoredConversions = { leads: number; sales: number; saleAmount: number }
export type LinkConversions = StoredConversions & { workspaceId: string; linkNumber: bigint; doubled: number }

/** Stored leads and sales per link, for a range of link numbers; includes expired leads and sales. */
export async function conversionsByLink(platform: Reading, range: LinkRange): Promise<LinkConversions[]> {
  const rows = await selectStored(platform.clickhouse, 'leads and sales', range)
  return rows.map(({ workspace_id, number, stored, doubled }) => {
    const [leads = 0, sales = 0, saleAmount = 0] = stored.map(Number)
    const link = { workspaceId: workspace_id, linkNumber: BigInt(number), doubled: Number(doubled) }
    return { ...link, leads, sales, saleAmount }
  })
}

/** Adds rollup counts for events whose rows no longer exist. */
export function keepCounts(platform: Reading, counts: CountCorrection[]): Promise<void> {
  return insertCorrections(platform.clickhouse, counts)
}
