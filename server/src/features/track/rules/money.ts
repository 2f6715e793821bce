import type { RateTable } from '../../../platform/rates.ts'

export type Money = { amount: number; currency: string }

// ISO 4217: how many digits the smallest unit of a currency stands behind the point, where it is not two.
const digitsOf: Record<string, number> = {
  ...Object.fromEntries(
    'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('bhd iqd jod kwd lyd omr tnd'.split(' ').map((code) => [code, 3])),
}

/** In the smallest unit of the other currency, halves away from zero; undefined when a rate is not known. */
export function convert(money: Money, to: string, { rates }: RateTable): Money | undefined {
  if (money.currency === to) return money
  const [from, into] = [fractionOf(rates.get(money.currency)), fractionOf(rates.get(to))]
  if (!from || !into) return undefined
  const numerator = BigInt(money.amount) * into.numerator * from.denominator * 10n ** digits(to)
  const denominator = into.denominator * from.numerator * 10n ** digits(money.currency)
  return { amount: Number(rounded(numerator, denominator)), currency: to }
}

function digits(currency: string): bigint {
  return BigInt(digitsOf[currency] ?? 2)
}

function fractionOf(text: string | undefined): { numerator: bigint; denominator: bigint } | undefined {
  const [, whole = '', part = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text ?? '') ?? []
  const numerator = BigInt(whole + part)
  return numerator > 0n ? { numerator, denominator: 10n ** BigInt(part.length) } : undefined
}

function rounded(numerator: bigint, denominator: bigint): bigint {
  const half = numerator < 0n ? -denominator : denominator
  return (numerator * 2n + half) / (denominator * 2n)
}
