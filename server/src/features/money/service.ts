import { writeFile } from 'node:fs/promises'
import type { Platform } from '../../platform/context.ts'
import { downloadText, replaceFile } from '../../platform/download.ts'
import { memoByObject } from '../../platform/memo.ts'
import { type ExchangeRates, openExchangeRates, parseBankXml, readExchangeRates } from './exchange-rates.ts'

/** An amount in the minor unit of its currency: cents, whole yen, fils. */
export type Money = { amount: bigint; currency: string }

const maxDownloadBytes = 1_000_000
const openedExchangeRates = memoByObject(openExchangeRates)

/** ISO 4217 exponents (digits of the minor unit) other than 2. */
const exponents: Record<string, bigint> = {
  ...Object.fromEntries(
    'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'.split(' ').map((code) => [code, 0n]),
  ),
  ...Object.fromEntries('bhd iqd jod kwd lyd omr tnd'.split(' ').map((code) => [code, 3n])),
}

/** The exchange rates of the process. Roles call this at startup, so that an invalid RATES_FILE stops them. */
export function exchangeRates({ config, log }: Pick<Platform, 'config' | 'log'>): ExchangeRates {
  return openedExchangeRates(config, log)()
}

/** Downloads exchange rates in the XML format of the European Central Bank and replaces the file with them. */
export function downloadExchangeRates(url: string, file: string): Promise<ExchangeRates> {
  return replaceFile(file, async (temporary) => {
    const content = parseBankXml(await downloadText(url, maxDownloadBytes))
    await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`)
    return readExchangeRates(temporary).exchangeRates
  })
}

/** Converts an amount to another currency. Undefined when one of the currencies has no exchange rate. */
export function convert(money: Money, currency: string, { rates }: ExchangeRates): Money | undefined {
  if (money.currency === currency) return money
  const [from, to] = [parseRate(rates.get(money.currency)), parseRate(rates.get(currency))]
  if (!from || !to) return undefined
  const numerator = money.amount * to.numerator * from.denominator * 10n ** exponent(currency)
  const denominator = to.denominator * from.numerator * 10n ** exponent(money.currency)
  return { amount: divideRounded(numerator, denominator), currency }
}

/** Formats an amount in the currency's main unit, such as `12.50`, without a symbol. */
export function formatDecimal({ amount, currency }: Money): string {
  const digits = Number(exponent(currency))
  const [sign, units] = amount < 0n ? ['-', -amount] : ['', amount]
  if (digits === 0) return `${sign}${units}`
  const text = String(units).padStart(digits + 1, '0')
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** `part / whole` of an amount, rounded. By default `part` is in basis points: 1250n for a commission of 12.5 %. */
export function roundShare(amount: bigint, part: bigint, whole = 10_000n): bigint {
  return divideRounded(amount * part, whole)
}

/**
 * Divides an amount by weights so that the shares add up to it exactly: each exact share is rounded towards zero, and
 * the missing units go to the largest remainders, the first of equal ones. To refund a divided amount in parts, use
 * what is left of each share as its weight: no share becomes negative, and the last refund leaves no remainder.
 */
export function apportion(total: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.some((weight) => weight < 0n)) throw new RangeError('A weight for dividing an amount is negative')
  if (total === 0n) return weights.map(() => 0n)
  const whole = add(weights)
  if (whole === 0n) throw new RangeError(`${total} can't be divided: no weight is positive`)
  const unit = total < 0n ? -1n : 1n
  const shares = weights.map((weight) => (total * weight) / whole)
  const remainders = weights.map((weight, index) => ({ index, size: unit * ((total * weight) % whole) }))
  const missing = Number(unit * (total - add(shares)))
  const largest = remainders.sort((one, other) => Number(other.size > one.size) - Number(other.size < one.size))
  for (const { index } of largest.slice(0, missing)) shares[index] = (shares[index] as bigint) + unit
  return shares
}

function add(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

function exponent(currency: string): bigint {
  return exponents[currency] ?? 2n
}

function parseRate(text = ''): { numerator: bigint; denominator: bigint } | undefined {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const numerator = BigInt(whole + fraction)
  return numerator > 0n ? { numerator, denominator: 10n ** BigInt(fraction.length) } : undefined
}

/** Divides and rounds half away from zero, as invoices do, so that a refund is exactly the negative of its sale. */
function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const half = numerator < 0n ? -denominator : denominator
  return (numerator * 2n + half) / (denominator * 2n)
}
