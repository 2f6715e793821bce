import { chunks } from '../../platform/batches.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { incarnationStart } from '../../platform/incarnation.ts'
import { isLockTimeout, savepoint, transaction } from '../../platform/postgres.ts'
import { deletedFolders } from '../folders/service.ts'
import type { LinkChanged } from '../links/messages.ts'
import { deletedTags } from '../tags/service.ts'
import { type EncodedClickRows, encodeClickRows, type NewClickRow } from './click-columns.ts'
import { type ClickDayProgress, readClickCountries, readClickDays } from './click-days.ts'
import {
  eraseClickAddresses,
  eraseRowsOfCustomers,
  isCustomerStored,
  type LocatedClick as Located,
  readClicks,
  readConversionClicks,
} from './customers.ts'
import type { ConversionClickRow, WholeClickRow } from './customers-store.ts'
import {
  type DeletedClick as Click,
  deleteClicks as deleteStoredClicks,
  deleteConversion as deleteStoredConversion,
  type DeletedRows as Rows,
} from './deletion.ts'
import { isRetained, stampExpiry } from './expiry.ts'
import { forgetFolders, forgetTags } from './forget.ts'
import {
  addMissing,
  type ClickDayRow,
  type ConversionTable,
  insertClicks,
  insertEvents,
  insertLinkAttributes,
  insertStaged,
  type LaterLink,
  type LinkAddressRow,
  lockConversions,
  type NewLeadRow,
  type NewSaleRow,
  type StoredClickRow,
  type StoredConversion,
  type StoredVisitRow,
  selectClicksById,
  selectLaterLinks,
  selectLinkAddresses,
  selectSaleAmounts,
  selectStoredIds,
  selectStoredSince,
  selectVisits,
} from './store.ts'

export type NewClick = NewClickRow
export type EncodedClicks = EncodedClickRows
export type NewLead = NewLeadRow
export type NewSale = NewSaleRow
export type NewConversions = { leads: NewLead[]; sales: NewSale[] }
export type StoredClick = StoredClickRow
export type StoredVisit = StoredVisitRow
export type ClickDay = ClickDayRow
export type WholeClick = WholeClickRow
export type ConversionClick = ConversionClickRow
export type LocatedClick = Located
export type DeletedRows = Rows
export type DeletedClick = Click
type NotAttributed = { attribution: string }
type NewUnattributed = { leads: (NewLeadRow & NotAttributed)[]; sales: (NewSaleRow & NotAttributed)[] }
/** Event tables for other features to read; only this feature writes to them. */
export const eventTables = {
  clicks: 'click_events',
  leads: 'lead_events',
  sales: 'sale_events',
  attributes: 'link_attributes',
} as const
type Engines = Pick<Platform, 'clickhouse' | 'db' | 'config'>

const hourMs = 60 * 60 * 1000
// Gap between two versions of link attributes: a correction is newer than the corrected version, older than the next.
const correctionsPerVersion = 1_000_000n
// ClickHouse query parameters are part of the URL, whose length servers limit.
const namedAtOnce = 100
const visitsAtOnce = 2_000
// The clocks of PostgreSQL and an API server may differ by this much.
const skewMs = 60_000

/** Inserts clicks, which expire after the retention of their workspace's current plan. */
export async function appendClicks(platform: Engines, clicks: NewClick[], token: string): Promise<void> {
  await appendEncodedClicks(platform, await encodeClicks(platform, clicks), token)
}

/** Encodes clicks for `appendEncodedClicks`, so that this work can be done while earlier clicks are inserted. */
export async function encodeClicks(platform: Engines, clicks: NewClick[]): Promise<EncodedClicks> {
  await stampExpiry(platform, clicks)
  return encodeClickRows(clicks)
}

export async function appendEncodedClicks(platform: Engines, clicks: EncodedClicks, token: string): Promise<void> {
  if (clicks.rows > 0) await insertClicks(platform.clickhouse, clicks, token)
}

/** Inserts leads and sales. In a transaction, blocks counting and repairing them until it ends. */
export async function appendConversions(platform: Engines, { leads, sales }: NewConversions, token: string) {
  await lockConversions(platform.db, 'shared')
  await stampExpiry(platform, [...leads, ...sales])
  // A restored PostgreSQL may have lost the record that these leads and sales are already stored.
  const until = (await incarnationStart(platform.db)).getTime() + skewMs
  const newLeads = await withoutStored(platform, 'lead_events', leads, until)
  const newSales = await withoutStored(platform, 'sale_events', sales, until)
  await insertEvents(platform.clickhouse, 'lead_events', newLeads, `leads:${token}`)
  await insertEvents(platform.clickhouse, 'sale_events', newSales, `sales:${token}`)
}

/** Skips leads or sales at or before `until` that are already stored. */
async function withoutStored<Row extends NewLeadRow>(
  platform: Engines,
  table: ConversionTable,
  rows: Row[],
  until: number,
): Promise<Row[]> {
  const { old = [], young = [] } = Object.groupBy(rows, ({ timestamp }) => (timestamp <= until ? 'old' : 'young'))
  return old.length === 0 ? rows : [...(await withoutRow(platform, table, old)), ...young]
}

/** Inserts leads and sales that are not stored yet: a divided batch may already have been inserted as a whole. */
export async function appendMissingConversions(platform: Engines, { leads, sales }: NewConversions, token: string) {
  await stampExpiry(platform, [...leads, ...sales])
  await insertEvents(
    platform.clickhouse,
    'lead_events',
    await withoutRow(platform, 'lead_events', leads),
    `leads:${token}`,
  )
  await insertEvents(
    platform.clickhouse,
    'sale_events',
    await withoutRow(platform, 'sale_events', sales),
    `sales:${token}`,
  )
}

/** Deletes a lead, sale or refund. Call it only while inserts are locked. */
export function deleteConversion(...input: Parameters<typeof deleteStoredConversion>): Promise<void> {
  return deleteStoredConversion(...input)
}

/** Deletes clicks of a workspace. Only the worker that owns their partition may call it. */
export function deleteClicks(...input: Parameters<typeof deleteStoredClicks>): Promise<void> {
  return deleteStoredClicks(...input)
}

/** Inserts missing leads and sales that have not expired; returns how many. Call it only while inserts are locked. */
export async function restoreConversions(platform: Engines, { leads, sales }: NewConversions): Promise<number> {
  await stampExpiry(platform, [...leads, ...sales])
  const missingLeads = await withoutRow(platform, 'lead_events', leads.filter(isRetained))
  const missingSales = await withoutRow(platform, 'sale_events', sales.filter(isRetained))
  await insertEvents(platform.clickhouse, 'lead_events', missingLeads)
  await insertEvents(platform.clickhouse, 'sale_events', missingSales)
  return missingLeads.length + missingSales.length
}

/** Inserts unattributed leads and sales that are not stored yet. Concurrent calls with the same rows would add both. */
export async function appendUnattributed(platform: Engines, { leads, sales }: NewUnattributed): Promise<void> {
  await stampExpiry(platform, [...leads, ...sales])
  const missingLeads = await withoutRow(platform, 'unattributed_leads', leads)
  const missingSales = await withoutRow(platform, 'unattributed_sales', sales)
  await insertEvents(platform.clickhouse, 'unattributed_leads', missingLeads)
  await insertEvents(platform.clickhouse, 'unattributed_sales', missingSales)
}

async function withoutRow<Row extends NewLeadRow>(platform: Engines, table: ConversionTable, rows: Row[]) {
  const stored = new Set<string>()
  const distinct = new Map(rows.map((row) => [`${row.workspace_id} ${row.timestamp}`, row]))
  for (const some of chunks([...distinct.values()], namedAtOnce)) {
    const among = { workspaceIds: listWorkspaces(some), moments: some.map(({ timestamp }) => timestamp) }
    for (const id of await selectStoredIds(platform.clickhouse, table, among)) stored.add(id)
  }
  return rows.filter(({ id }) => !stored.has(id))
}

function listWorkspaces(rows: { workspace_id: string }[]): string[] {
  return [...new Set(rows.map(({ workspace_id }) => workspace_id))]
}

/** Blocks lead and sale inserts until the transaction ends; fails when a running insert does not end in time. */
export function lockOutConversions({ db }: Pick<Platform, 'db'>): Promise<void> {
  return lockConversions(db, 'alone')
}

/** Blocks lead and sale inserts during `work`; `isLocked` is false when a running insert does not end in time. */
export function betweenConversions<C extends Pick<Platform, 'db'>, R>(
  platform: C,
  work: (platform: C, isLocked: boolean) => Promise<R>,
): Promise<R> {
  return transaction(platform, async (platform) => {
    const isLocked = await savepoint(platform, lockOutConversions).then(
      () => true,
      (error) => {
        if (isLockTimeout(error)) return false
        throw error
      },
    )
    return work(platform, isLocked)
  })
}

/** Returns the clicks with these ids that are stored already. */
export async function clicksById(
  platform: Pick<Platform, 'clickhouse'>,
  clicks: { workspace_id: string; click_id: string }[],
): Promise<StoredClick[]> {
  const found: StoredClick[] = []
  for (const some of chunks(clicks, namedAtOnce)) {
    const ids = some.map(({ click_id }) => click_id)
    found.push(...(await selectClicksById(platform.clickhouse, listWorkspaces(some), ids)))
  }
  return found
}

/** The ClickHouse rows with these click ids; `at` is a click's time in Unix milliseconds. */
export async function visitsById(
  platform: Pick<Platform, 'clickhouse'>,
  clicks: { workspaceId: string; id: string; at: number }[],
): Promise<StoredVisit[]> {
  const found: StoredVisit[] = []
  const sorted = clicks.toSorted((a, b) => a.at - b.at)
  for (const some of chunks(sorted, visitsAtOnce)) {
    const workspaceIds = [...new Set(some.map(({ workspaceId }) => workspaceId))]
    // A click id belongs to one hour, and the click's time may be an hour off.
    const [from, to] = [(some[0]?.at ?? 0) - 3 * hourMs, (some.at(-1)?.at ?? 0) + 3 * hourMs]
    const ids = [...new Set(some.map(({ id }) => id))]
    found.push(...(await selectVisits(platform.clickhouse, { workspaceIds, ids, from, to })))
  }
  return found
}

/** Rewrites integers beyond 64 bits in JSON metadata as exponents, because ClickHouse can't parse them. */
export function searchableMetadata(json: string): string {
  if (!/\d{19}/.test(json)) return json
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi, (token) =>
    /^-?\d{19,}$/.test(token) ? Number(token).toExponential() : token,
  )
}

/** Whether any of these leads or sales is stored; `at` is the event's time in Unix milliseconds. */
export async function isAnyStored(
  { clickhouse, workspaceId }: Pick<Ctx, 'clickhouse' | 'workspaceId'>,
  kind: 'leads' | 'sales',
  named: { id: string; at: number }[],
): Promise<boolean> {
  for (const some of chunks(named, namedAtOnce)) {
    const among = { workspaceIds: [workspaceId], moments: some.map(({ at }) => at) }
    const stored = await selectStoredIds(clickhouse, kind === 'leads' ? 'lead_events' : 'sale_events', among)
    if (some.some(({ id }) => stored.includes(id))) return true
  }
  return false
}

/** The amounts of stored sales and refunds of any workspace, by id; `at` is the event's time in Unix milliseconds. */
export async function storedSaleAmounts(
  { clickhouse }: Pick<Platform, 'clickhouse'>,
  named: { id: string; workspaceId: string; at: number }[],
): Promise<Map<string, string>> {
  const amounts = new Map<string, string>()
  for (const some of chunks(named, namedAtOnce)) {
    const workspaceIds = [...new Set(some.map(({ workspaceId }) => workspaceId))]
    const among = { workspaceIds, moments: some.map(({ at }) => at) }
    for (const { id, amount } of await selectSaleAmounts(clickhouse, among)) amounts.set(id, amount)
  }
  return amounts
}

/** The last known domain and key of links, even of deleted links. */
export function linkAddresses(
  { clickhouse, workspaceId }: Pick<Ctx, 'clickhouse' | 'workspaceId'>,
  numbers: string[],
): Promise<LinkAddressRow[]> {
  return selectLinkAddresses(clickhouse, workspaceId, numbers)
}

/** Inserts clicks that are not stored yet, in log order; returns how many. Must not run concurrently. */
export async function restoreClicks(platform: Engines, clicks: NewClick[], batch: string): Promise<number> {
  if (clicks.length === 0) return 0
  await stampExpiry(platform, clicks)
  const staged = clicks.map((click, position) => ({ ...click, batch, position }))
  await insertStaged(platform.clickhouse, staged)
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for (const { timestamp } of clicks) [from, to] = [Math.min(from, timestamp), Math.max(to, timestamp)]
  // A click id belongs to one hour, and the click's time may be an hour off.
  return addMissing(platform.clickhouse, batch, { from: from - 3 * hourMs, to: to + 3 * hourMs })
}

export async function keepLinkAttributes(
  platform: Pick<Platform, 'clickhouse' | 'db'>,
  changes: LinkChanged[],
): Promise<void> {
  const rows = changes.map((change) => ({
    workspace_id: change.workspaceId,
    link_number: change.linkNumber,
    link_id: change.id ?? '',
    key: change.key ?? '',
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
  // A link change can arrive after its tag or folder was deleted, so deleted tags and folders are removed here too.
  const tags = changes.flatMap(({ workspaceId, tagIds }) => tagIds.map((tagId) => ({ workspaceId, tagId })))
  await forgetTags(platform, await deletedTags(platform, tags))
  const folders = changes.filter(({ folderId }) => folderId !== '')
  await forgetFolders(platform, await deletedFolders(platform, folders))
}

/** Links with attribute versions after `before` and up to `last`, ordered by link number. */
export function attributesBetween(
  platform: Pick<Platform, 'clickhouse'>,
  [before, last]: [bigint, bigint],
  page: { after: string; count: number },
): Promise<LaterLink[]> {
  const first = before < 0n ? 0n : (before + 1n) * correctionsPerVersion
  const versions = { first, last: last * correctionsPerVersion }
  return selectLaterLinks(platform.clickhouse, { ...page, ...versions })
}

/** Leads and sales that were stored at or after `since`, ordered by id. */
export function conversionsStoredSince(
  platform: Pick<Platform, 'clickhouse'>,
  since: Date,
  page: { after: string; count: number },
): Promise<StoredConversion[]> {
  return selectStoredSince(platform.clickhouse, { ...page, since: since.getTime() })
}

/** Clears metadata and addresses of customers' leads, sales and refunds; the events stay. */
export function eraseCustomers(...input: Parameters<typeof eraseRowsOfCustomers>): Promise<void> {
  return eraseRowsOfCustomers(...input)
}

/** Clears the addresses of clicks; the clicks stay. */
export function eraseAddresses(...input: Parameters<typeof eraseClickAddresses>): Promise<void> {
  return eraseClickAddresses(...input)
}

export function hasCustomer(...input: Parameters<typeof isCustomerStored>): Promise<boolean> {
  return isCustomerStored(...input)
}

/** Reads everything that is stored of clicks. */
export function wholeClicks(...input: Parameters<typeof readClicks>): Promise<WholeClick[]> {
  return readClicks(...input)
}

/** What ClickHouse has of the clicks of leads, sales and refunds, by the id of the event. */
export function clicksOfConversions(...input: Parameters<typeof readConversionClicks>) {
  return readConversionClicks(...input)
}

/** Clicks by people per link and day: all clicks of days after `closed_day`, and late clicks of earlier days. */
export function clickDays(platform: Pick<Platform, 'clickhouse'>, progress: ClickDayProgress): Promise<ClickDay[]> {
  return readClickDays(platform, progress)
}

/** The counts of `clickDays` for some links, by country. */
export function clickCountries(
  platform: Pick<Platform, 'clickhouse'>,
  progress: Omit<ClickDayProgress, 'count'>,
  links: Pick<ClickDay, 'workspaceId' | 'linkNumber'>[],
) {
  return readClickCountries(platform, progress, links)
}
