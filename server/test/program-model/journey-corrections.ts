import type { AmountPatch, Money, NewStatus, Played } from './journey.ts'
import { earningsAfter, exchange } from './journey-money.ts'
import { moveByRules } from './journey-moves.ts'
import { isFrozen, type ModelCommission, type State, sumEarnings } from './journey-state.ts'

/** Custom commissions, corrections by hand, and payouts that are sent. */
export function applyMoney(state: State, step: Money): Played | null {
  switch (step.kind) {
    case 'custom':
      return addCustom(state, step)
    case 'patch': {
      const commission = state.commissions[step.commission % state.commissions.length]
      if (!commission) return null
      const { patch } = step
      const isDone = 'status' in patch ? setStatus(commission, patch.status) : setAmounts(state, commission, patch)
      if (isDone) moveByRules(state, commission.partner)
      return { kind: 'patch', commission: commission.key, patch, isRefused: !isDone }
    }
    case 'freeze':
      return freeze(state, step)
  }
}

function addCustom(state: State, { partner: given, amount }: Extract<Money, { kind: 'custom' }>): Played {
  const partner = given % state.partners.length
  const action = { kind: 'custom' as const, partner, amount }
  if (state.partners[partner]?.status === 'banned') return { ...action, isRefused: true }
  const customs = state.commissions.filter(({ key }) => key.startsWith('custom'))
  state.commissions.push({
    key: `custom ${customs.length}`,
    partner,
    customer: null,
    type: 'custom',
    status: 'pending',
    isCanceledByBan: false,
    amount: BigInt(amount),
    earnings: BigInt(amount),
    dueAt: state.now,
    version: null,
    payout: null,
    decided: null,
    correction: null,
  })
  moveByRules(state, partner)
  return { ...action, isRefused: false }
}

/** False when refused. */
function setStatus(commission: ModelCommission, status: NewStatus): boolean {
  if (isFrozen(commission) || commission.status === status) return false
  const isRestored = status === 'pending' && commission.status !== 'processed'
  if (isRestored && commission.earnings === 0n) return false
  commission.status = status
  commission.isCanceledByBan = false
  commission.payout = null
  return true
}

/** New amounts earn by the terms that the commission was decided with. Zero ends it. False when refused. */
function setAmounts(state: State, commission: ModelCommission, patch: AmountPatch): boolean {
  const { saleAmount, modifySaleAmount } = patch
  const given = modifySaleAmount ?? saleAmount
  if (given === undefined && patch.earnings === undefined) return true
  const isOwed = commission.status === 'pending' || commission.status === 'processed'
  if (isFrozen(commission) || !isOwed) return false
  if (given !== undefined && commission.type !== 'sale') return false
  let { amount } = commission
  if (given !== undefined) {
    const converted = exchange(BigInt(given), patch.currency, state.programCurrency)
    amount = modifySaleAmount === undefined ? converted : amount + converted
    if (amount < 0n) amount = 0n
  }
  const correction = {
    amount,
    of: amountLeft(state, commission),
    earnings: patch.earnings === undefined ? null : BigInt(patch.earnings),
  }
  const { decided } = commission
  const earnings =
    correction.earnings ?? (decided ? earningsAfter(decided.inputs, decided.amount, null, amount) : commission.earnings)
  commission.payout = null
  if (earnings === 0n) {
    commission.status = 'refunded'
    return true
  }
  commission.status = 'pending'
  commission.amount = amount
  commission.earnings = earnings
  commission.correction = correction
  return true
}

/** What is left of the commission's sale, in the workspace's currency, also by refunds that are not decided yet. */
function amountLeft(state: State, { key, amount }: ModelCommission): bigint {
  const sale = state.events.find((event) => `event ${event.number}` === key)
  if (sale?.kind !== 'sale') return amount
  const refunds = state.events.filter((event) => event.kind === 'refund' && event.sale === sale.number)
  return refunds.reduce((left, refund) => left - refund.amount, sale.amount)
}

export function mature(state: State): void {
  for (const commission of state.commissions) {
    if (commission.status !== 'pending' || commission.dueAt > state.now) continue
    let open = state.payouts.find(({ partner, isOpen }) => partner === commission.partner && isOpen)
    if (!open) {
      open = { partner: commission.partner, isOpen: true }
      state.payouts.push(open)
    }
    commission.status = 'processed'
    commission.payout = open
  }
}

/** Only a positive payout is sent. */
function freeze(state: State, step: Extract<Money, { kind: 'freeze' }>): Played | null {
  const partner = step.partner % state.partners.length
  const open = state.payouts.find((payout) => payout.partner === partner && payout.isOpen)
  const mine = state.commissions.filter(({ payout }) => payout !== null && payout === open)
  if (!open || sumEarnings(mine, ['processed']) <= 0n) return null
  open.isOpen = false
  if (step.isPaid) for (const commission of mine) commission.status = 'paid'
  return { ...step, partner, isRefused: false }
}
