import { apportion, roundShare } from '../money/service.ts'
import type { Rate, RewardEvent } from './terms.ts'

/** A part of a sale, or the clicks of some countries, that is rewarded by itself; other events have one line. */
export type Line = { productId: string | null; countries?: string[]; amount: bigint; quantity: number }

const mostQuantity = 10_000

/** Flat for each, or a share of the amount with halves rounded up. */
export function lineEarnings(
  { type, amount }: Pick<Rate, 'type' | 'amount'>,
  line: Pick<Line, 'amount' | 'quantity'>,
): bigint {
  return type === 'flat' ? amount * BigInt(line.quantity) : roundShare(line.amount, amount)
}

/** The amount that `metadata.commissionableAmount` states, such as one without tax; null when it states none. */
export function commissionableAmount({ metadata, originalAmount }: RewardEvent): bigint | null {
  const given = metadata?.commissionableAmount
  if (!isWhole(given) || BigInt(given) > originalAmount) return null
  return BigInt(given)
}

/**
 * Divides an event into lines, by `metadata.products` if it is a list of them. Lines add up to the commissionable amount
 * at most: what they leave over, such as shipping, earns nothing.
 */
export function splitLines(event: RewardEvent): Line[] {
  const { metadata, amount, quantity } = event
  if (event.kind !== 'sale') return [{ productId: null, amount, quantity }]
  const base = commissionableAmount(event) ?? event.originalAmount
  const products = readProducts(metadata?.products)
  if (!products) {
    const productId = typeof metadata?.productId === 'string' ? metadata.productId : null
    return [{ productId, amount: inProgramCurrency(event, base), quantity }]
  }
  const listed = products.reduce((sum, line) => sum + line.amount, 0n)
  const isPart = listed < base
  const total = inProgramCurrency(event, isPart ? listed : base)
  const shares =
    total === 0n
      ? products.map(() => 0n)
      : apportion(
          total,
          products.map((line) => line.amount),
        )
  return products.map((line, index) => ({ ...line, amount: shares[index] as bigint }))
}

/** A line's amount when only `amountLeft` of the sale's amount is left: each line by itself, so that none ever grows. */
export function scaleLine(line: bigint, amount: bigint, amountLeft: bigint): bigint {
  return amount === 0n ? 0n : roundShare(line, amountLeft, amount)
}

function inProgramCurrency({ amount, originalAmount }: RewardEvent, part: bigint): bigint {
  return originalAmount === amount || originalAmount === 0n ? part : roundShare(amount, part, originalAmount)
}

function readProducts(given: unknown): Line[] | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined
  const lines = given.flatMap((product: unknown): Line[] => {
    const { id, amount, quantity = 1 } = (product ?? {}) as Record<string, unknown>
    const isLine = typeof id === 'string' && isWhole(amount) && isWhole(quantity)
    if (!isLine || quantity < 1 || quantity > mostQuantity) return []
    return [{ productId: id, amount: BigInt(amount), quantity }]
  })
  return lines.length === given.length ? lines : undefined
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
