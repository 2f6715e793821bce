import type { Ctx, Platform } from '../../platform/context.ts'
import type { Customer } from '../customers/service.ts'
import type { NewLead } from '../event-storage/service.ts'
import type { LeadRecord, SaleRecord } from '../events/service.ts'
import type { StoredConversions } from '../rollups/service.ts'
import { type LeadByHand, recordHandLead, recordHandSale, type SaleByHand } from './by-hand.ts'
import { loadClicks } from './click-facts.ts'
import { areClicksStored } from './erase.ts'
import { betweenExports, restoreSome } from './export.ts'
import { isDataLeft, locateCustomerClicks, type JourneyClick as ReadClick, readJourneyClicks } from './journeys.ts'
import { type JourneyPage, selectJourney, sumUntil } from './journeys-store.ts'
import { notePage } from './page-reports.ts'
import {
  type EarlierTotals,
  type PartnerSaleRow,
  selectEarlierTotals,
  selectPartnerSales,
  selectSaleNumbers,
} from './partners-store.ts'
import { type PastEvent, type PastSale, recordLeadOfPast, recordSaleOfPast } from './past.ts'
import { selectRefunds, selectSale } from './record-store.ts'
import { existsPageReport, selectTrackedKinds } from './reports-store.ts'
import { buildRows } from './rows.ts'
import {
  type ConversionKind,
  type ConversionRow,
  releaseUnattributed,
  selectByNumber,
  selectConversions,
  selectCustomerNumbers,
  selectHighestNumber,
  selectIds,
  selectOfPartners,
  selectPartnersOfCustomers,
  selectRecorded,
  selectSalesLeft,
  selectSold,
} from './store.ts'

/** A lead, sale or refund with the columns of its event. Without click facts, location and device are unknown. */
export type RecordedConversion = { id: string; hasClickFacts: boolean } & (
  | { kind: 'lead'; row: LeadRecord }
  | { kind: Exclude<ConversionKind, 'lead'>; row: SaleRecord }
)

/** Reads leads, sales and refunds from PostgreSQL by id. */
export async function readConversions(ctx: Ctx, ids: string[]): Promise<RecordedConversion[]> {
  const conversions = await selectConversions(ctx.db, ctx.workspaceId, ids)
  const known = conversions.filter(({ click_facts_at, stored_at }) => click_facts_at !== null || stored_at !== null)
  const clicks = await loadClicks(ctx, known)
  return conversions.map((conversion) => {
    const { leads, sales } = buildRows([conversion], clicks)
    const { id, kind } = conversion
    const hasClickFacts = known.includes(conversion)
    if (kind === 'lead') return { id, kind, hasClickFacts, row: presentTimes(leads[0] as NewLead) }
    return { id, kind, hasClickFacts, row: presentTimes(sales[0] as NonNullable<(typeof sales)[0]>) }
  })
}

function presentTimes<Row extends NewLead>(row: Row) {
  const [timestamp, click_timestamp] = [row.timestamp, row.click_timestamp].map((at) => new Date(at).toISOString())
  return { ...row, timestamp: timestamp as string, click_timestamp: click_timestamp as string }
}

export type RecordedCounts = StoredConversions & { conversions: number }
/** A link's exported leads and sales according to PostgreSQL, and whether more are being exported. */
export type RecordedConversions = {
  workspaceId: string
  linkNumber: bigint
  recorded: RecordedCounts
  isUnderWay: boolean
}

export async function recordedByLink(
  { db }: Pick<Platform, 'db'>,
  range: { workspaceId?: string; first: bigint; last: bigint },
): Promise<RecordedConversions[]> {
  const rows = await selectRecorded(db, range)
  return rows.map(({ workspace_id, link_number, under_way, leads, conversions, sales, sale_amount }) => {
    const counts = { leads: Number(leads), conversions: Number(conversions), sales: Number(sales) }
    const recorded = { ...counts, saleAmount: Number(sale_amount) }
    return { workspaceId: workspace_id, linkNumber: link_number, recorded, isUnderWay: under_way > 0n }
  })
}

/** Sales minus refunds by customer id. Customers without leads and sales are missing. */
export async function recordedByCustomer({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, customerIds: string[]) {
  const rows = await selectSold(db, workspaceId, customerIds)
  return new Map(
    rows.map((row) => [row.customer_id, { sales: Number(row.sales), saleAmount: Number(row.sale_amount) }]),
  )
}

/** Returns those of the given lead, sale and refund ids that PostgreSQL has. */
export async function knownConversions({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, ids: string[]) {
  return new Set(await selectIds(db, workspaceId, [...new Set(ids)]))
}

export function highestConversion({ db }: Pick<Platform, 'db'>): Promise<bigint> {
  return selectHighestNumber(db)
}

/** Makes the worker check all leads and sales without a link, and insert those that ClickHouse lacks. */
export function exportUnattributedAgain({ db }: Pick<Platform, 'db'>): Promise<void> {
  return releaseUnattributed(db)
}

export type Conversion = ConversionRow

/** Records a lead without a click; undefined when the customer has one with this event name. */
export function recordLeadByHand(ctx: Ctx, lead: LeadByHand): Promise<Conversion | undefined> {
  return recordHandLead(ctx, lead)
}

/** Records a sale without a click; undefined when the invoice is recorded already. */
export function recordSaleByHand(ctx: Ctx, sale: SaleByHand): Promise<Conversion | undefined> {
  return recordHandSale(ctx, sale)
}

/** Reads leads, sales and refunds of any workspace by number, in order. */
export function conversionsByNumber({ db }: Pick<Platform, 'db'>, numbers: bigint[]): Promise<Conversion[]> {
  return selectByNumber(db, numbers)
}

/** Leads, sales and refunds of partners of any workspace after a number, in order. */
export function partnerConversions({ db }: Pick<Platform, 'db'>, range: Parameters<typeof selectOfPartners>[1]) {
  return selectOfPartners(db, range)
}

/** The numbers of customers' leads, sales and refunds. */
export function customerConversions({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, customerIds: string[]) {
  return selectCustomerNumbers(db, workspaceId, customerIds)
}

export type JourneyClick = ReadClick

/** A page of a customer's leads, sales and refunds by time. */
export function customerJourney({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, id: string, page: JourneyPage) {
  return selectJourney(db, workspaceId, id, page)
}

/** The sum of a customer's sales and refunds up to and including the event with this number. */
export function customerValue({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, id: string, number: bigint) {
  return sumUntil(db, workspaceId, id, number)
}

/** The clicks of a customer, oldest first. */
export function customerClicks(...input: Parameters<typeof readJourneyClicks>): Promise<JourneyClick[]> {
  return readJourneyClicks(...input)
}

/** The ids of a customer's clicks, some hundred at a time. */
export function customerClickIds(...input: Parameters<typeof locateCustomerClicks>) {
  return locateCustomerClicks(...input)
}

/** Whether metadata, click facts or addresses of an erased customer are left, or may still come from the event log. */
export async function isTrackedDataLeft(ctx: Ctx, customer: Customer): Promise<boolean> {
  return !(await areClicksStored(ctx, [customer])) || (await isDataLeft(ctx, customer))
}

/** The ids of the partners that customers' leads, sales and refunds belong to. */
export function customerPartners({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, customerIds: string[]) {
  return selectPartnersOfCustomers(db, workspaceId, customerIds)
}

/** A lead, sale or refund by its id, or the sale of an invoice. */
export async function findConversion(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  { id, invoiceId }: { id?: string; invoiceId?: string },
): Promise<Conversion | undefined> {
  if (invoiceId) return selectSale(db, workspaceId, invoiceId)
  return id === undefined ? undefined : (await selectConversions(db, workspaceId, [id]))[0]
}

export function refundsOfSale(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  sale: bigint,
): Promise<Pick<Conversion, 'id' | 'amount' | 'created_at'>[]> {
  return selectRefunds(db, workspaceId, sale)
}

/** What is left of sales before a refund: `before` is the number of the refund. */
export async function salesLeft(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  sales: { number: bigint; before: bigint }[],
): Promise<Map<bigint, { amount: bigint; left: bigint }>> {
  if (sales.length === 0) return new Map()
  const rows = await selectSalesLeft(db, workspaceId, sales)
  return new Map(rows.map(({ number, amount, refunded }) => [number, { amount, left: amount + refunded }]))
}

type Engines = Pick<Platform, 'clickhouse' | 'db' | 'config'>

/** The number of rows read and added; `last` is the last conversion number, undefined after the last batch. */
export type RestoredRows = { read: number; added: number; last: bigint | undefined }

/** Adds a batch of rows that ClickHouse lost, for one link or all links, after the given conversion number. */
export function restoreMissingRows(
  platform: Engines,
  from: { linkNumber?: bigint; after: bigint },
): Promise<RestoredRows> {
  return restoreSome(platform, from)
}

/** Notes that a page of a workspace uses the script. */
export function notePageReport(...input: Parameters<typeof notePage>): Promise<void> {
  return notePage(...input)
}

/** Whether a page of the workspace has ever reported something. */
export function hasPageReport({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>): Promise<boolean> {
  return existsPageReport(db, workspaceId)
}

/** Whether the workspace has leads and sales. */
export function findTrackedKinds({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>) {
  return selectTrackedKinds(db, workspaceId)
}

export function recordPastLead(ctx: Ctx, lead: PastEvent): Promise<void> {
  return recordLeadOfPast(ctx, lead)
}

export function recordPastSale(ctx: Ctx, sale: PastSale): Promise<void> {
  return recordSaleOfPast(ctx, sale)
}

/** Runs `work` while no batch of leads and sales is being exported to ClickHouse. */
export function pauseExport<R>(platform: Engines, work: () => Promise<R>): Promise<R> {
  return betweenExports(platform, work)
}

export type PartnerSale = PartnerSaleRow

/** The numbers of sales of partners' links in a period, oldest first. */
export async function saleNumbers(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  selection: { linkNumbers: bigint[]; start: Date; end: Date; most: number },
): Promise<bigint[]> {
  return selection.linkNumbers.length === 0 ? [] : selectSaleNumbers(db, workspaceId, selection)
}

/** Sales of partners' links by number, oldest first. */
export function partnerSales(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  numbers: bigint[],
): Promise<PartnerSale[]> {
  return selectPartnerSales(db, workspaceId, numbers)
}

/** What the links brought their partners before a time, by partner id. */
export async function earlierTotals(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  linkNumbers: bigint[],
  before: Date,
): Promise<Map<string, EarlierTotals>> {
  if (linkNumbers.length === 0) return new Map()
  const rows = await selectEarlierTotals(db, workspaceId, linkNumbers, before)
  return new Map(rows.map(({ partner_id, ...totals }) => [partner_id, totals]))
}
