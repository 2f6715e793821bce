import { addTotals, type Changes } from './batch.ts'
import { type Commission, type CommissionStatus, countedEarnings, owedAccount } from './commission.ts'

/* Changes of a commission that is not frozen, each with its postings. The caller has locked partner and payout. */

type Ended = Extract<CommissionStatus, 'refunded' | 'duplicate' | 'canceled' | 'fraud'>

/** Takes the earnings back, and the commission out of its open payout. Amount and earnings stay, for a later restore. */
export function endCommission(changes: Changes, commission: Commission, status: Ended, reason: string | null = null) {
  change(changes, commission, () => {
    move(changes, commission, 'reversed', -commission.earnings)
    leavePayout(changes, commission)
    commission.status = status
    commission.statusReason = reason
  })
}

/** Makes an ended commission pending, or puts it on hold, and owes its earnings again. */
export function restoreCommission(changes: Changes, commission: Commission, reviewReason: string | null = null): void {
  change(changes, commission, () => {
    commission.status = reviewReason === null ? 'pending' : 'hold'
    commission.statusReason = reviewReason
    move(changes, commission, 'restored', commission.earnings)
  })
}

/** Confirms a commission that is on hold: it matures when it is due. The money is owed already. */
export function releaseCommission(changes: Changes, commission: Commission): void {
  change(changes, commission, () => {
    commission.status = 'pending'
    commission.statusReason = null
  })
}

/** Takes a commission out of its open payout: it matures again. */
export function returnToPending(changes: Changes, commission: Commission): void {
  if (commission.status !== 'processed') return
  change(changes, commission, () => {
    const { partnerNumber, earnings } = commission
    changes.postings.push({
      kind: 'returned',
      debit: { kind: 'due', partnerNumber },
      credit: { kind: 'accrued', partnerNumber },
      amount: earnings,
      commission,
    })
    leavePayout(changes, commission)
    commission.status = 'pending'
  })
}

/** Sets amount and earnings, and posts the difference where the earnings are owed. */
export function correctCommission(changes: Changes, commission: Commission, amount: bigint, earnings: bigint): void {
  change(changes, commission, () => {
    const difference = earnings - commission.earnings
    move(changes, commission, 'corrected', difference)
    if (owedAccount(commission) === 'due') addToPayout(changes, commission, difference)
    commission.amount = amount
    commission.earnings = earnings
  })
}

/** Runs a change, and counts its effect on the partner's total. */
function change(changes: Changes, commission: Commission, work: () => void): void {
  const before = countedEarnings(commission)
  work()
  if (commission.number !== null) changes.changed.add(commission)
  addTotals(null, changes, commission.partnerNumber, { commissions: countedEarnings(commission) - before })
}

/** Posts from expenses to the account that owes the commission; nothing for an ended one. */
function move(changes: Changes, commission: Commission, kind: 'reversed' | 'restored' | 'corrected', amount: bigint) {
  const account = owedAccount(commission)
  if (!account) return
  changes.postings.push({
    kind,
    debit: { kind: 'expense', partnerNumber: null },
    credit: { kind: account, partnerNumber: commission.partnerNumber },
    amount,
    commission,
  })
}

function leavePayout(changes: Changes, commission: Commission): void {
  addToPayout(changes, commission, -commission.earnings)
  commission.payoutNumber = null
  commission.payoutStatus = null
}

function addToPayout(changes: Changes, { payoutNumber }: Commission, amount: bigint): void {
  if (payoutNumber !== null) changes.payouts.set(payoutNumber, (changes.payouts.get(payoutNumber) ?? 0n) + amount)
}
