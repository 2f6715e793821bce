import { lineEarnings, scaleLine } from './earnings.ts'
import type { Why } from './terms.ts'

/**
 * What a sale earns when only `amountLeft` of its amount is left, by the terms and inputs in `why`. A flat reward is
 * unchanged until nothing is left.
 */
export function earningsAfterRefund(why: Pick<Why, 'event' | 'lines' | 'cap'>, amountLeft: bigint): bigint {
  if (amountLeft <= 0n) return 0n
  const earnings = why.lines.reduce((sum, { type, rate, quantity, isOpen, ...line }) => {
    const amount = scaleLine(BigInt(line.amount), BigInt(why.event.amount), amountLeft)
    return isOpen ? sum + lineEarnings({ type, amount: BigInt(rate) }, { amount, quantity }) : sum
  }, 0n)
  return why.cap && BigInt(why.cap.left) < earnings ? BigInt(why.cap.left) : earnings
}
