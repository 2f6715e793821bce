import { v7 } from 'uuid'
import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { claimEvents } from '../../platform/handled-events.ts'
import { transaction } from '../../platform/postgres.ts'
import type { ClickDaysClosed } from '../ingest/messages.ts'
import { linksByNumber } from '../links/service.ts'
import { exchangeRates } from '../money/service.ts'
import { findPartnersById, lockManyPartners } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { choiceAt, decideReward, type RewardEvent, versionsDuring } from '../rewards/service.ts'
import { addTotals, type Batch, type Changes, keyKinds, noChanges, type PartnerState } from './batch.ts'
import { findCap, spendingKey } from './caps.ts'
import type { Commission } from './commission.ts'
import { earnedPosting } from './decide-batch.ts'
import { findPeriod, loadPartners, lockCaps } from './load.ts'
import { judgeMove } from './move.ts'
import { writeChanges } from './write.ts'

const subscriber = 'click-rewards'
const dayMs = 86_400_000
const noCustomer = { customer_id: '' }

type ClickDay = ClickDaysClosed['days'][number]
type OwnedDay = ClickDay & { partnerNumber: bigint }
type CountedDay = OwnedDay & { partner: PartnerState }

/** Rewards the clicks of closed days, per link. Clicks that arrive late are a further commission of the same day. */
export async function rewardClickDays(platform: Platform, closed: ClickDaysClosed[]): Promise<void> {
  for (const [workspaceId, messages] of Map.groupBy(closed, (message) => message.workspaceId)) {
    const days = messages.flatMap((message) => message.days)
    await rewardDays(asSystem(platform, workspaceId), days)
  }
}

async function rewardDays(ctx: Ctx, days: ClickDay[]): Promise<void> {
  const links = await linksByNumber(ctx, [...new Set(days.map(({ linkNumber }) => BigInt(linkNumber)))])
  const named = days.flatMap((day) => {
    const partnerId = links.get(BigInt(day.linkNumber))?.partnerId
    return partnerId ? [{ ...day, partnerId }] : []
  })
  if (named.length === 0) return
  await transaction(ctx, async (ctx) => {
    const found = await findPartnersById(
      ctx,
      named.map(({ partnerId }) => partnerId),
    )
    if (found.size === 0) return
    const locked = await lockManyPartners(
      ctx.db,
      ctx.workspaceId,
      [...found.values()].map(({ number }) => number),
    )
    const fresh = await claimEvents(
      ctx.db,
      subscriber,
      named.map(({ id }) => id),
    )
    const numbers = new Set(locked.map(({ number }) => number))
    const owned = named.flatMap(({ partnerId, ...day }): OwnedDay[] => {
      const partnerNumber = found.get(partnerId)?.number ?? 0n
      return numbers.has(partnerNumber) && fresh.has(day.id) ? [{ ...day, partnerNumber }] : []
    })
    await decideInParts(ctx, owned)
  })
}

/** Decides days in order: first one half, then the other, when their terms are too large to load at once. */
async function decideInParts(ctx: Ctx, owned: OwnedDay[]): Promise<void> {
  for (let left = owned; left.length > 0; ) {
    const after = await decideDays(ctx, left).catch((error: unknown) => {
      if (error instanceof RangeError && left.length > 1) return undefined
      throw error
    })
    const half = Math.ceil(left.length / 2)
    if (!after) await decideInParts(ctx, left.slice(0, half))
    left = after ?? left.slice(half)
  }
}

/** Decides days in order. Returns those of partners that moved before, which earn by the terms of the new group. */
async function decideDays(ctx: Ctx, owned: OwnedDay[]): Promise<OwnedDay[]> {
  const { currency } = await requireProgram(ctx)
  const numbers = owned.map(({ partnerNumber }) => partnerNumber)
  const locked = await lockManyPartners(ctx.db, ctx.workspaceId, numbers)
  const { partners, targets } = await loadPartners(ctx, locked)
  const days = owned.flatMap((day): CountedDay[] => {
    const partner = partners.get(day.partnerNumber)
    return partner ? [{ ...day, partner }] : []
  })
  const owners = [...partners.values()].map(({ number, groupNumber }) => ({ number, groupNumber }))
  const events = days.map((day) => ({ day, event: buildClickEvent(day, currency) }))
  const period = findPeriod(events.map(({ event }) => event.at))
  const timelines = await versionsDuring(ctx.db, ctx.workspaceId, owners, period)
  const none = { customers: new Map(), pairs: new Map(), sales: new Map(), spending: new Map() }
  const loaded = { currency, rates: exchangeRates(ctx), partners, targets, timelines }
  const batch: Batch = { workspaceId: ctx.workspaceId, ...loaded, ...none }
  const caps = events.flatMap(({ day, event }) => findCap(batch, day.partner, noCustomer, event, undefined) ?? [])
  await lockCaps(ctx, batch, caps)
  const changes = noChanges()
  const left: OwnedDay[] = []
  for (const { partner, ...day } of days) {
    if (changes.moves.has(partner.number)) {
      left.push(day)
      continue
    }
    decideDay(batch, changes, { ...day, partner })
    judgeMove(batch, changes, partner.number)
  }
  await writeChanges(ctx, changes, batch.spending)
  return left
}

function decideDay(batch: Batch, changes: Changes, day: CountedDay): void {
  const { partner } = day
  const event = buildClickEvent(day, batch.currency)
  const cap = findCap(batch, partner, noCustomer, event, undefined)
  const spending = cap && batch.spending.get(spendingKey(cap))
  const history = { binding: null, isVoid: false, hasLeadCommission: false, spent: spending?.amount ?? 0n }
  const choice = choiceAt(batch.timelines.get(partner.number)?.click, event.at)
  const decision = decideReward(event, history, choice)
  if ('reason' in decision) return
  const commission: Commission = {
    number: null,
    id: v7(),
    partnerNumber: partner.number,
    type: 'click',
    status: 'pending',
    amount: 0n,
    earnings: decision.earnings,
    currency: batch.currency,
    quantity: day.clicks,
    conversionNumber: null,
    customerId: null,
    linkNumber: BigInt(day.linkNumber),
    rewardVersion: decision.version.number,
    payoutNumber: null,
    payoutStatus: null,
    invoiceId: null,
    description: day.isLate ? `Late clicks of ${day.day}` : `Clicks of ${day.day}`,
    metadata: null,
    actor: null,
    dueAt: decision.dueAt,
    createdAt: event.at,
    statusReason: null,
    detail: { why: decision.why },
  }
  changes.created.push(commission)
  // Late clicks of a day come in any number of events; only `claimEvents` keeps these from being rewarded twice.
  if (!day.isLate) changes.keys.push({ source: clickDaySource(day), kind: keyKinds.clickDay, commission })
  changes.postings.push(earnedPosting(commission))
  addTotals(batch, changes, partner.number, { commissions: decision.earnings })
  if (spending) {
    spending.amount += decision.earnings
    spending.added += decision.earnings
  }
}

function buildClickEvent({ partner, clicks, day, countries }: CountedDay, currency: string): RewardEvent {
  const { status, country, email, totals, holdingPeriodDays } = partner
  return {
    kind: 'click',
    amount: 0n,
    originalAmount: 0n,
    currency,
    quantity: clicks,
    at: new Date(Date.parse(`${day}T00:00:00Z`) + dayMs - 1),
    metadata: null,
    customer: null,
    ...(countries && { countries: Object.entries(countries).map(([country, clicks]) => ({ country, clicks })) }),
    partner: { status, country, email, totals: { ...totals }, holdingPeriodDays },
    isFirst: false,
  }
}

/** A number for a link and day: the link's number and the day since 1970, which has five digits. */
function clickDaySource({ linkNumber, day }: ClickDay): bigint {
  return BigInt(linkNumber) * 100_000n + BigInt(Date.parse(`${day}T00:00:00Z`) / dayMs)
}
