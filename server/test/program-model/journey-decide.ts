import type { Binding, Choice, History, RewardEvent, RewardVersion } from '../../src/features/rewards/terms.ts'
import { amountAfter, earningsAfter, exchange, proportion } from './journey-money.ts'
import { moveByRules } from './journey-moves.ts'
import {
  isFrozen,
  type ModelBinding,
  type ModelCommission,
  type ModelEvent,
  type ModelPartner,
  type State,
  sumEarnings,
} from './journey-state.ts'
import { modelJudge, modelVersion, pairEnd } from './model.ts'

/* The engine of the plain model: decides queued events, oldest first, with one pass over all it remembers for each. */

export function decideQueued(state: State): void {
  for (const event of state.events) {
    if (event.reason !== undefined) continue
    if (event.kind === 'refund') applyRefund(state, event)
    else decideEvent(state, event)
    moveByRules(state, event.partner)
  }
}

function decideEvent(state: State, event: ModelEvent): void {
  const partner = state.partners[event.partner] as ModelPartner
  const amount = exchange(event.amount, state.workspaceCurrency, state.programCurrency)
  const choice = chooseTerms(state, event, partner)
  const binding = findBinding(state, event)
  const version = modelVersion(binding && bindingAt(state, binding, event.at), choice, event.at)
  const spentKey = version && capKey(state, event, version)
  const { decision, inputs } = modelJudge(
    describeEvent(state, event, amount),
    {
      ...pairHistory(state, event),
      binding: binding && bindingAt(state, binding, event.at),
      spent: state.spent.filter(({ key }) => key === spentKey).reduce((sum, { amount }) => sum + amount, 0n),
    },
    choice,
  )
  const { totals } = partner
  if (event.kind === 'lead') totals.leads += BigInt(event.quantity)
  else {
    totals.sales += 1n
    totals.saleAmount += amount
    if (event.isFirst) totals.conversions += 1n
  }
  if ('reason' in decision) {
    event.reason = decision.reason
    return
  }
  event.reason = null
  const applied = version as RewardVersion
  state.commissions.push({
    key: `event ${event.number}`,
    partner: event.partner,
    customer: event.customer,
    type: event.kind as 'lead' | 'sale',
    status: 'pending',
    isCanceledByBan: false,
    amount: event.kind === 'sale' ? amount : 0n,
    earnings: decision.earnings,
    dueAt: new Date(decision.dueAt),
    version: applied,
    payout: null,
    decided: { amount, inputs },
    correction: null,
  })
  if (spentKey) state.spent.push({ key: spentKey, amount: decision.earnings })
  if (event.kind === 'sale' && binding === null) {
    const { partner, customer, at } = event
    state.bindings.push({ partner, customer, version: applied, firstSaleAt: at })
  }
}

/** The versions that were current when the event happened, for the group that the partner is in now. */
function chooseTerms(state: State, { kind, at, partner: index }: ModelEvent, { group }: ModelPartner): Choice {
  const current = (isOwner: (owner: { group?: number; partner?: number }) => boolean) => {
    for (const reward of state.rewards) {
      if (reward.event !== kind || !isOwner(reward.owner)) continue
      if (reward.endedAt && reward.endedAt <= at) continue
      const made = reward.versions.filter(({ createdAt }) => createdAt <= at)
      if (made.length > 0) return made.at(-1) as RewardVersion
    }
    return null
  }
  return { partner: current((owner) => owner.partner === index), group: current((owner) => owner.group === group) }
}

function findBinding(state: State, { kind, partner, customer }: ModelEvent): ModelBinding | null {
  if (kind !== 'sale') return null
  return state.bindings.find((each) => each.partner === partner && each.customer === customer) ?? null
}

/** A binding with the later versions that apply to all and were made before a time. */
export function bindingAt(state: State, { version, firstSaleAt }: ModelBinding, at: Date): Binding {
  const reward = state.rewards.find(({ versions }) => versions.includes(version))
  const later = (reward?.versions ?? []).filter(
    (each) => each.version > version.version && each.appliesToAll && each.createdAt <= at,
  )
  const end = pairEnd(version.terms, firstSaleAt)
  return { version, later, firstSaleAt, endsAt: end === null ? null : new Date(end) }
}

function pairHistory(state: State, { partner, customer }: ModelEvent): Pick<History, 'isVoid' | 'hasLeadCommission'> {
  const ofPair = state.commissions.filter(
    (each) => each.partner === partner && each.customer === customer && each.type !== 'custom',
  )
  const [first] = ofPair
  return {
    isVoid: first?.status === 'fraud' || first?.status === 'canceled',
    hasLeadCommission: ofPair.some(({ type }) => type === 'lead'),
  }
}

function capKey(state: State, event: ModelEvent, { rewardNumber, terms: { cap } }: RewardVersion): string | null {
  if (cap === null) return null
  const day = new Date(`${event.at.toISOString().slice(0, 10)}T00:00:00Z`)
  while (cap.interval === 'week' && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
  const text = day.toISOString()
  const period = { day: text.slice(0, 10), week: text.slice(0, 10), month: text.slice(0, 7), allTime: '' }[cap.interval]
  const who = {
    partner: event.partner,
    customer: `${event.partner} ${event.customer}`,
    group: state.partners[event.partner]?.group,
    program: '',
  }[cap.scope]
  return [rewardNumber, cap.interval, period, cap.scope, who].join('|')
}

function describeEvent(state: State, event: ModelEvent, amount: bigint): RewardEvent {
  const customer = state.customers[event.customer] as State['customers'][number]
  const { status, country, email, totals, group } = state.partners[event.partner] as ModelPartner
  const mine = state.commissions.filter(({ partner }) => partner === event.partner)
  const commissions = sumEarnings(mine, ['pending', 'processed', 'paid'])
  return {
    kind: event.kind as 'lead' | 'sale',
    amount,
    originalAmount: event.original,
    currency: state.programCurrency,
    quantity: event.quantity,
    at: event.at,
    metadata: event.metadata,
    customer: {
      id: customer.id,
      country: customer.country,
      email: customer.email,
      createdAt: customer.signedUpAt,
      firstSaleAt: customer.firstSaleAt && customer.firstSaleAt <= event.at ? customer.firstSaleAt : null,
      source: customer.trackedBy === null ? 'submitted' : 'tracked',
    },
    partner: {
      status,
      country,
      email,
      totals: { clicks: 0n, commissions, ...totals },
      holdingPeriodDays: state.groups[group]?.delayDays ?? 0,
    },
    isFirst: event.isFirst,
  }
}

function applyRefund(state: State, event: ModelEvent): void {
  const sale = state.events[event.sale] as ModelEvent
  const { totals } = state.partners[event.partner] as ModelPartner
  const counted = exchange(sale.amount, state.workspaceCurrency, state.programCurrency)
  const worth = (left: bigint) => amountAfter(counted, null, sale.amount, left)
  totals.saleAmount += worth(event.after) - worth(event.before)
  if (event.isFull) totals.sales -= 1n
  const commission = state.commissions.find(({ key }) => key === `event ${sale.number}`)
  if (!commission?.decided) {
    event.reason = 'no_commission'
    return
  }
  const { decided, correction } = commission
  const amountAt = (left: bigint) => amountAfter(decided.amount, correction, sale.amount, left)
  const earnedAt = (left: bigint) => earningsAfter(decided.inputs, decided.amount, correction, amountAt(left))
  event.reason = null
  if (isFrozen(commission)) {
    const difference = earnedAt(event.after) - earnedAt(event.before)
    if (difference === 0n) event.reason = 'unchanged'
    else state.commissions.push(clawback(event, commission, difference))
    return
  }
  commission.amount = amountAt(event.after)
  commission.earnings = earnedAt(event.after)
  const isOwed = commission.status === 'pending' || commission.status === 'processed'
  if (commission.earnings === 0n && isOwed) {
    commission.status = 'refunded'
    commission.payout = null
  }
}

function clawback(event: ModelEvent, { customer }: ModelCommission, earnings: bigint): ModelCommission {
  return {
    key: `event ${event.number}`,
    partner: event.partner,
    customer,
    type: 'custom',
    status: 'pending',
    isCanceledByBan: false,
    amount: earnings,
    earnings,
    dueAt: event.at,
    version: null,
    payout: null,
    decided: null,
    correction: null,
  }
}

/** The refunded part of a sale in the workspace's currency; the last refund takes the rest. */
export function refundedPart(sale: ModelEvent, left: bigint, original: bigint, isFull: boolean): bigint {
  const part = proportion(sale.amount, original, sale.original)
  return isFull || part > left ? left : part
}
