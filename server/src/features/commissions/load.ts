import type { Ctx } from '../../platform/context.ts'
import { customerOrigins } from '../customers/service.ts'
import { type GroupTarget, groupsAndTargets } from '../groups/service.ts'
import { exchangeRates } from '../money/service.ts'
import { type ClaimedPartner, totalsByPartner } from '../partners/service.ts'
import { lockPayouts } from '../payouts/service.ts'
import { requireProgram } from '../programs/service.ts'
import { boundVersions, type RewardVersion, versionsDuring } from '../rewards/service.ts'
import { salesLeft } from '../track/service.ts'
import {
  type Batch,
  type CustomerFacts,
  noTotals,
  type PairState,
  type PartnerState,
  pairKey,
  type QueuedEvent,
  type SaleState,
} from './batch.ts'
import { type Cap, findCap, spendingKey } from './caps.ts'
import type { Commission, Detail } from './commission.ts'
import { buildEvent } from './decide-batch.ts'
import {
  type CommissionRow,
  lockSpending,
  measureDetails,
  selectByConversion,
  selectDecisions,
  selectPairs,
} from './store.ts'

// Above this, a worker might run out of memory; the engine then decides fewer events at once.
const mostDetail = 4_000_000

/** Loads what deciding these events needs, without their caps. Their partners are locked. */
export async function loadBatch(ctx: Ctx, partners: ClaimedPartner[], events: QueuedEvent[]): Promise<Batch> {
  const { currency } = await requireProgram(ctx)
  return {
    workspaceId: ctx.workspaceId,
    currency,
    rates: exchangeRates(ctx),
    ...(await loadPartners(ctx, partners)),
    customers: await loadCustomers(ctx, events),
    timelines: await versionsDuring(
      ctx.db,
      ctx.workspaceId,
      partners.map(({ number, group_number }) => ({ number, groupNumber: group_number })),
      findPeriod(events.map(({ conversion }) => conversion.created_at)),
    ),
    pairs: await loadPairs(ctx, events),
    spending: new Map(),
    sales: await loadSales(ctx, events),
  }
}

/** The time of the first and of the last event. */
export function findPeriod(times: Date[]): { first: Date; last: Date } {
  const sorted = times.map((time) => time.getTime()).sort((one, other) => one - other)
  return { first: new Date(sorted[0] ?? 0), last: new Date(sorted.at(-1) ?? 0) }
}

/** Loads partners with their groups and totals, and the groups that they may move to. */
export async function loadPartners(
  ctx: Ctx,
  partners: ClaimedPartner[],
): Promise<{ partners: Map<bigint, PartnerState>; targets: GroupTarget[] }> {
  const { groups, targets } = await groupsAndTargets(
    ctx,
    partners.map(({ group_number }) => group_number),
  )
  const totals = await totalsByPartner(
    ctx,
    partners.map(({ number }) => number),
  )
  const states = partners.map((partner): [bigint, PartnerState] => {
    const { number, id, status, country, email, group_number } = partner
    const { sale_amount: saleAmount, ...counts } = totals.get(number) ?? { ...noTotals(), sale_amount: 0n }
    const group = groups.get(group_number)
    const member = { groupNumber: group_number, groupId: group?.id ?? '', isPinned: partner.is_pinned }
    const holdingPeriodDays = group?.holding_period_days ?? 0
    const { clicks, leads, conversions, sales, commissions } = counts
    const state = { clicks, leads, conversions, sales, saleAmount, commissions }
    return [number, { number, id, status, country, email, ...member, holdingPeriodDays, totals: state }]
  })
  return { partners: new Map(states), targets }
}

async function loadCustomers(ctx: Ctx, events: QueuedEvent[]): Promise<Map<string, CustomerFacts>> {
  const rows = await customerOrigins(
    ctx,
    events.map(({ conversion }) => conversion.customer_id),
  )
  return new Map(
    rows.map(({ id, country, email, created_at, first_sale_at, click_id, erased_at }) => {
      const times = { createdAt: created_at, firstSaleAt: first_sale_at }
      return [id, { id, country, email, ...times, isTracked: click_id !== null, isErased: erased_at !== null }]
    }),
  )
}

async function loadPairs(ctx: Ctx, events: QueuedEvent[]): Promise<Map<string, PairState>> {
  const asked = new Map(
    events.map(({ partnerNumber, conversion: { customer_id: customerId } }) => [
      pairKey(partnerNumber, customerId),
      { partnerNumber, customerId },
    ]),
  )
  const rows = await selectPairs(ctx.db, ctx.workspaceId, [...asked.values()])
  const versions = await boundVersions(
    ctx.db,
    ctx.workspaceId,
    rows.flatMap(({ reward_version }) => reward_version ?? []),
  )
  return new Map(
    rows.map((row) => {
      const bound = row.reward_version === null ? undefined : versions.get(row.reward_version)
      const binding = bound && row.first_sale_at && { ...bound, firstSaleAt: row.first_sale_at, endsAt: row.ends_at }
      const isVoid = row.first_status === 'fraud' || row.first_status === 'canceled'
      return [pairKey(row.partner_number, row.customer_id), { binding: binding ?? null, isVoid, hasLead: row.has_lead }]
    }),
  )
}

/** The sales of refunds, unless they are decided in the same batch. */
async function loadSales(ctx: Ctx, events: QueuedEvent[]): Promise<Map<bigint, SaleState>> {
  const asked = new Map<bigint, bigint>()
  const mine = new Set(events.map(({ conversion }) => conversion.number))
  for (const { conversion } of events) {
    const { sale_number, number } = conversion
    if (sale_number !== null && !mine.has(sale_number) && !asked.has(sale_number)) asked.set(sale_number, number)
  }
  const numbers = [...asked.keys()]
  if (numbers.length === 0) return new Map()
  if (numbers.length > 1 && (await measureDetails(ctx.db, ctx.workspaceId, numbers)) > mostDetail)
    throw new RangeError(`The explanations of ${numbers.length} refunded sales are too long to load at once`)
  const left = await salesLeft(
    ctx,
    [...asked].map(([number, before]) => ({ number, before })),
  )
  const rows = await selectByConversion(ctx.db, ctx.workspaceId, numbers)
  const commissions = new Map((await withPayouts(ctx, rows)).map((each) => [each.conversionNumber, each]))
  const decisions = await selectDecisions(ctx.db, ctx.workspaceId, numbers)
  const details = new Map(decisions.map(({ conversion_number, detail }) => [conversion_number, detail]))
  const sales = new Map<bigint, SaleState>()
  for (const [number, sale] of left) {
    const commission = commissions.get(number) ?? null
    const counted = (commission?.detail ?? details.get(number))?.why?.event.amount
    sales.set(number, { ...sale, counted: counted === undefined ? sale.amount : BigInt(counted), commission })
  }
  return sales
}

/** Commissions in memory, with the status of their payouts, which it locks; `why` is needed only to change amounts. */
export async function withPayouts(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  rows: (CommissionRow & { why?: Detail | null })[],
): Promise<Commission[]> {
  const numbers = rows.flatMap(({ payout_number }) => payout_number ?? [])
  const payouts = await lockPayouts(ctx.db, ctx.workspaceId, numbers)
  return rows.map((row) => ({
    number: row.number,
    id: row.id,
    partnerNumber: row.partner_number,
    type: row.type,
    status: row.status,
    amount: row.amount,
    earnings: row.earnings,
    currency: row.currency,
    quantity: row.quantity,
    conversionNumber: row.conversion_number,
    customerId: row.customer_id,
    linkNumber: row.link_number,
    rewardVersion: row.reward_version,
    payoutNumber: row.payout_number,
    payoutStatus: row.payout_number === null ? null : (payouts.get(row.payout_number)?.status ?? null),
    invoiceId: row.invoice_id,
    description: row.description,
    metadata: row.metadata && JSON.stringify(row.metadata),
    actor: row.actor,
    dueAt: row.due_at,
    createdAt: row.created_at,
    statusReason: row.status_reason,
    detail: row.why ?? { why: null },
  }))
}

function hasCap({ timelines, pairs }: Batch): boolean {
  const versions = new Set<RewardVersion>()
  for (const { lead, sale } of timelines.values())
    for (const spans of [lead.partner, lead.group, sale.partner, sale.group])
      for (const { version } of spans) versions.add(version)
  for (const { binding } of pairs.values())
    if (binding) for (const version of [binding.version, ...binding.later]) versions.add(version)
  return [...versions].some(({ terms }) => terms.cap !== null)
}

/** Locks and reads the rows that count earnings against the caps of these events. */
export async function loadSpending(ctx: Ctx, batch: Batch, events: QueuedEvent[]): Promise<void> {
  if (!hasCap(batch)) return
  const caps = events.flatMap(({ conversion, partnerNumber }) => {
    const partner = batch.partners.get(partnerNumber)
    if (!partner || conversion.kind === 'refund') return []
    const { event } = buildEvent(batch, partner, conversion)
    const pair = batch.pairs.get(pairKey(partnerNumber, conversion.customer_id))
    return findCap(batch, partner, conversion, event, pair) ?? []
  })
  await lockCaps(ctx, batch, caps)
}

/** Locks the rows of these caps and puts their amounts into the batch. */
export async function lockCaps(ctx: Ctx, batch: Batch, caps: Cap[]): Promise<void> {
  const byKey = new Map(caps.map((cap) => [spendingKey(cap), cap]))
  if (byKey.size === 0) return
  for (const row of await lockSpending(ctx.db, [...byKey.values()])) {
    batch.spending.set(spendingKey(row), { ...row, added: 0n })
  }
}
