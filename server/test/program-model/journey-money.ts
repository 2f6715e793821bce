import { readFileSync } from 'node:fs'
import { halfUp, type Inputs, modelEarningsAfter } from './model.ts'

/* Exchange, and what a commission is worth after refunds and corrections. */

const { rates } = JSON.parse(readFileSync(new URL('../../data/exchange-rates.json', import.meta.url), 'utf8')) as {
  rates: Record<string, string>
}
const digits: Record<string, number> = { usd: 2, eur: 2, gbp: 2, jpy: 0 }

/** Converts between smallest units, halves away from zero. */
export function exchange(amount: bigint, from: string, to: string): bigint {
  if (from === to) return amount
  if (amount < 0n) return -exchange(-amount, from, to)
  // Rates have at most ten decimals.
  const rate = (currency: string) => BigInt(Math.round(Number(rates[currency]) * 1e10))
  const unit = (currency: string) => 10n ** BigInt(digits[currency] as number)
  return halfUp(amount * rate(to) * unit(to), rate(from) * unit(from))
}

/** A correction by hand: the commission's amount when `of` of the sale was left, and its earnings if they were set. */
export type Correction = { amount: bigint; of: bigint; earnings: bigint | null }

/** The commission's amount when only `left` of the sale's `total` is left. */
export function amountAfter(amount: bigint, correction: Correction | null, total: bigint, left: bigint): bigint {
  if (left === 0n) return 0n
  if (correction) return proportion(correction.amount, left, correction.of)
  return proportion(amount, left, total)
}

/** What the commission earns when `amount` became `left`. */
export function earningsAfter(inputs: Inputs, amount: bigint, correction: Correction | null, left: bigint): bigint {
  if (left === 0n) return 0n
  if (correction?.earnings != null) return proportion(correction.earnings, left, correction.amount)
  return modelEarningsAfter(inputs, amount, left)
}

export function proportion(amount: bigint, part: bigint, whole: bigint): bigint {
  return part === whole || whole === 0n ? amount : halfUp(amount * part, whole)
}
