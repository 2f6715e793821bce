import { randomUUID } from 'node:crypto'
import type { Ctx, Platform } from '../../platform/context.ts'
import { isLockTimeout, savepoint, transaction } from '../../platform/postgres.ts'
import { deletedFolders } from '../folders/service.ts'
import type { LinkChanged } from '../links/messages.ts'
import { deletedTags } from '../tags/service.ts'
import { historyDaysOf } from '../workspaces/service.ts'
import { goneLink } from './feed/gone-link.ts'
import { forgetFolders, forgetTags } from './forget.ts'
import { withinLimits } from './limits.ts'
import { searchableMetadata } from './metadata.ts'
import { narrowed } from './narrow.ts'
import { presentLead, presentSale, presentVisit } from './present.ts'
import { type Count, type Rollup, type Source, sums } from './rollups.ts'
import {
  addMissing,
  type ConversionTable,
  countPeople,
  countStored,
  type EventRows,
  eraseMetadata,
  insertEvents,
  insertKeptCounts,
  insertLinkAttributes,
  insertStaged,
  type KeptCount,
  type LinkRange,
  lockConversions,
  mendRollup,
  type NewClickRow,
  type NewLeadRow,
  type NewSaleRow,
  type RollupRange,
  type StoredClick,
  selectClicksById,
  selectConversionsById,
  selectDifferences,
  selectMonths,
  selectStoredIds,
} from './store.ts'
import { type EventFilter, whereOf } from './where.ts'

export type { EventFilter, EventRows, NewLeadRow, NewSaleRow, StoredClick }
export { goneLink, narrowed, presentLead, presentSale, presentVisit, searchableMetadata, whereOf, withinLimits }
export type NewClick = NewClickRow
export type NewConversions = { leads: NewLeadRow[]; sales: NewSaleRow[] }
/** For those who count what is stored; only this feature writes. */
export const eventTables = {
  clicks: 'click_events',
  leads: 'lead_events',
  sales: 'sale_events',
  workspaceCounts: 'workspace_counts',
  linkCounts: 'link_counts',
  dimensionCounts: 'dimension_counts',
  attributes: 'link_attributes',
} as const
type Engines = Pick<Platform, 'clickhouse' | 'db'>
type Expiring = { workspace_id: string; timestamp: number; expires_on?: string }

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
// The last day that ClickHouse's type has: what is kept for ever.
const lastDay = 65_535
// Room between two versions of a link: a correction is newer than what it corrects and older than the next change.
const correctionsPerVersion = 1_000_000n
// Values travel in the address of a ClickHouse request, which servers limit.
const namedAtOnce = 100

/** Each is kept as long as the plan of its workspace says now. */
export async function appendClicks(platform: Engines, clicks: NewClick[], token: string): Promise<void> {
  if (clicks.length === 0) return
  await stampExpiry(platform, clicks)
  await insertEvents(platform.clickhouse, 'click_events', clicks, token)
}

/**
 * For a batch that may have been cut off. A ClickHouse that is killed at the wrong moment remembers the token of an insert
 * and has lost its rows, or counts of them: then the repeat alone is ignored. Nobody else may store events of these
 * workspaces meanwhile.
 */
export async function appendClicksAgain(
  platform: Pick<Platform, 'clickhouse' | 'db'>,
  clicks: NewClick[],
  token: string,
): Promise<void> {
  if (clicks.length === 0) return
  await appendClicks(platform, clicks, token)
  const batch = `${token}:${randomUUID()}`
  await restoreClicks(platform, clicks, batch)
  await mendDays(platform, clicks, { batch }, ['clicks'])
}

async function mendDays(platform: Engines, rows: Expiring[], whose: Partial<RollupRange>, sources: Source[]) {
  const days = [...new Set(rows.map(({ timestamp }) => Math.floor(timestamp / dayMs)))].map(dayText).sort()
  for (const [month, [from]] of Map.groupBy(days, (day) => `${day.slice(0, 7)}-01`))
    await mendRollups(platform, { ...whose, month, from }, sources)
}

/** Inside a transaction: until it ends nobody counts or mends leads and sales, who would see half of them. */
export async function appendConversions(platform: Engines, { leads, sales }: NewConversions, token: string) {
  await lockConversions(platform.db, 'shared')
  await stampExpiry(platform, [...leads, ...sales])
  await insertEvents(platform.clickhouse, 'lead_events', leads, `leads:${token}`)
  await insertEvents(platform.clickhouse, 'sale_events', sales, `sales:${token}`)
}

/** For a batch that may have been cut off, as `appendClicksAgain`; until the transaction ends nobody else stores any. */
export async function appendConversionsAgain(platform: Engines, rows: NewConversions, token: string): Promise<void> {
  await lockConversions(platform.db, 'alone')
  // Who was taken for dead may still send it: with the same token that comes to nothing.
  await appendConversions(platform, rows, token)
  await restoreConversions(platform, rows)
  const all = [...rows.leads, ...rows.sales]
  for (const workspaceIds of partsOf(workspacesOf(all)))
    await mendDays(platform, all, { workspaceIds }, ['leads', 'sales'])
}

/** Adds those that have no row and have not expired; gives how many. Only between batches. */
export async function restoreConversions(platform: Engines, { leads, sales }: NewConversions): Promise<number> {
  await stampExpiry(platform, [...leads, ...sales])
  const missingLeads = await withoutRow(platform, 'lead_events', leads)
  const missingSales = await withoutRow(platform, 'sale_events', sales)
  await insertEvents(platform.clickhouse, 'lead_events', missingLeads)
  await insertEvents(platform.clickhouse, 'sale_events', missingSales)
  return missingLeads.length + missingSales.length
}

async function withoutRow<Row extends NewLeadRow>(platform: Engines, table: ConversionTable, rows: Row[]) {
  const today = dayText(Math.floor(Date.now() / dayMs))
  const kept = rows.filter(({ expires_on = today }) => expires_on > today)
  if (kept.length === 0) return []
  const stored = new Set<string>()
  for (const some of partsOf([...new Map(kept.map((row) => [`${row.workspace_id} ${row.timestamp}`, row])).values()])) {
    const among = { workspaceIds: workspacesOf(some), moments: some.map(({ timestamp }) => timestamp) }
    for (const id of await selectStoredIds(platform.clickhouse, table, among)) stored.add(id)
  }
  return kept.filter(({ id }) => !stored.has(id))
}

function workspacesOf(rows: { workspace_id: string }[]): string[] {
  return [...new Set(rows.map(({ workspace_id }) => workspace_id))]
}

/** In a transaction until whose end no leads or sales are stored. `isStill` is false when a batch of them does not end. */
export function betweenConversions<C extends Pick<Platform, 'db'>, R>(
  platform: C,
  work: (platform: C, isStill: boolean) => Promise<R>,
): Promise<R> {
  return transaction(platform, async (platform) => {
    const isStill = await savepoint(platform, ({ db }) => lockConversions(db, 'alone')).then(
      () => true,
      (error) => {
        if (isLockTimeout(error)) return false
        throw error
      },
    )
    return work(platform, isStill)
  })
}

/** Those of them that have arrived. */
export async function clicksById(
  platform: Pick<Platform, 'clickhouse'>,
  clicks: { workspace_id: string; click_id: string }[],
): Promise<StoredClick[]> {
  const found: StoredClick[] = []
  for (const some of partsOf(clicks)) {
    const ids = some.map(({ click_id }) => click_id)
    found.push(...(await selectClicksById(platform.clickhouse, workspacesOf(some), ids)))
  }
  return found
}

/** Those of these leads or sales that are stored; `at` is the time of each in milliseconds. */
export async function conversionsById<Kind extends 'leads' | 'sales'>(
  { clickhouse, workspaceId }: Pick<Ctx, 'clickhouse' | 'workspaceId'>,
  kind: Kind,
  named: { id: string; at: number }[],
): Promise<EventRows[Kind][]> {
  const found: EventRows[Kind][] = []
  for (const some of partsOf(named)) {
    const [ids, moments] = [some.map(({ id }) => id), some.map(({ at }) => at)]
    found.push(...(await selectConversionsById(clickhouse, kind, { workspaceId, ids, moments })))
  }
  return found
}

function* partsOf<T>(items: T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += namedAtOnce) yield items.slice(start, start + namedAtOnce)
}

/** Writes into the rows, which are made for one insert: a copy of each would cost as much as making them. */
async function stampExpiry(platform: Pick<Platform, 'db'>, clicks: Expiring[]): Promise<void> {
  if (clicks.length === 0) return
  const days = await historyDaysOf(platform, new Set(clicks.map(({ workspace_id }) => workspace_id)))
  const dayOf = new Map<number, string>()
  for (const click of clicks) {
    const history = days.get(click.workspace_id)
    const day = history === undefined ? lastDay : Math.min(Math.floor(click.timestamp / dayMs) + history + 1, lastDay)
    const text = dayOf.get(day) ?? dayText(day)
    dayOf.set(day, text)
    click.expires_on = text
  }
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** Adds those clicks that are not stored, in the order of the log; gives how many. Only one may do it at a time. */
export async function restoreClicks(
  platform: Pick<Platform, 'clickhouse' | 'db'>,
  clicks: NewClick[],
  batch: string,
): Promise<number> {
  if (clicks.length === 0) return 0
  await stampExpiry(platform, clicks)
  const staged = clicks.map((click, position) => ({ ...click, batch, position }))
  await insertStaged(platform.clickhouse, staged)
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for (const { timestamp } of clicks) [from, to] = [Math.min(from, timestamp), Math.max(to, timestamp)]
  // An id belongs to one hour, and a click of it may be one off.
  return addMissing(platform.clickhouse, batch, { from: from - 3 * hourMs, to: to + 3 * hourMs })
}

/** Counts of events that nobody has the rows of any more. */
export function keepCounts(platform: Pick<Platform, 'clickhouse'>, counts: KeptCount[]): Promise<void> {
  return insertKeptCounts(platform.clickhouse, counts)
}

export type LinkPeople = { workspaceId: string; linkNumber: bigint; rows: number; doubled: number; last: Date }

/**
 * How many clicks of people are stored of each link in a range of numbers, and how many of them twice. Those whose rows
 * have expired are among them.
 */
export async function peopleByLink(platform: Pick<Platform, 'clickhouse'>, range: LinkRange): Promise<LinkPeople[]> {
  const rows = await countPeople(platform.clickhouse, range)
  const people = new Map(rows.map((row) => [`${row.workspace_id} ${row.number}`, row]))
  const stored = await countStored(platform.clickhouse, 'clicks', range)
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

export function monthsOfEvents(platform: Pick<Platform, 'clickhouse'>, workspaceId?: string): Promise<string[]> {
  return selectMonths(platform.clickhouse, workspaceId)
}

export type StoredConversions = { leads: number; sales: number; saleAmount: number }
export type LinkConversions = StoredConversions & { workspaceId: string; linkNumber: bigint; doubled: number }

/** How many leads and sales are stored of each link in a range of numbers, those that have expired among them. */
export async function conversionsByLink(
  platform: Pick<Platform, 'clickhouse'>,
  range: LinkRange,
): Promise<LinkConversions[]> {
  const rows = await countStored(platform.clickhouse, 'conversions', range)
  return rows.map(({ workspace_id, number, stored, doubled }) => {
    const [leads = 0, sales = 0, saleAmount = 0] = stored.map(Number)
    const link = { workspaceId: workspace_id, linkNumber: BigInt(number), doubled: Number(doubled) }
    return { ...link, leads, sales, saleAmount }
  })
}

export type Difference = {
  rollup: Rollup
  count: Count
  workspaceId: string
  buckets: number
  missing: number
  surplus: number
}

/** Where the rollups of a month are not what its rows come to. */
export async function rollupDifferences(
  platform: Pick<Platform, 'clickhouse'>,
  range: RollupRange,
): Promise<Difference[]> {
  const found: Difference[] = []
  for (const sum of sums) {
    for (const row of await selectDifferences(platform.clickhouse, sum, range)) {
      const size = { buckets: Number(row.buckets), missing: Number(row.missing), surplus: Number(row.surplus) }
      found.push({ rollup: sum.rollup, count: row.counted, workspaceId: row.workspace_id, ...size })
    }
  }
  return found
}

/** Makes the rollups of a month what its rows come to. Nothing may be inserted into these sources meanwhile. */
export async function mendRollups(
  platform: Pick<Platform, 'clickhouse'>,
  range: RollupRange,
  sources: Source[] = ['clicks', 'leads', 'sales'],
): Promise<void> {
  for (const sum of sums.filter(({ source }) => sources.includes(source)))
    await mendRollup(platform.clickhouse, sum, range)
}

export async function keepLinkAttributes(
  platform: Pick<Platform, 'clickhouse' | 'db'>,
  changes: LinkChanged[],
): Promise<void> {
  const rows = changes.map((change) => ({
    workspace_id: change.workspaceId,
    link_number: change.linkNumber,
    domain: change.domain,
    is_root: change.isRoot,
    folder_id: change.folderId,
    tenant_id: change.tenantId,
    partner_id: change.partnerId,
    tag_ids: change.tagIds,
    deleted: change.deleted,
    version: String(BigInt(change.version) * correctionsPerVersion),
  }))
  await insertLinkAttributes(platform.clickhouse, rows)
  // A change can come later than the message that a tag or folder in it is gone, which found nothing to correct then.
  const tags = changes.flatMap(({ workspaceId, tagIds }) => tagIds.map((tagId) => ({ workspaceId, tagId })))
  await forgetTags(platform, await deletedTags(platform, tags))
  const folders = changes.filter(({ folderId }) => folderId !== '')
  await forgetFolders(platform, await deletedFolders(platform, folders))
}

/** What was sent along with the leads and sales of these customers is emptied; the events stay. */
export async function eraseCustomers(
  platform: Pick<Platform, 'clickhouse' | 'config'>,
  workspaceId: string,
  customerIds: string[],
): Promise<void> {
  const { CLICKHOUSE_CLUSTER: cluster } = platform.config
  for (const part of partsOf(customerIds))
    await eraseMetadata(platform.clickhouse, cluster, { workspaceId, customerIds: part })
}
