import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Seller } from './program.ts'

export type Refund = { refundId: string; amount: number | null }
export type Sale = { seller: Seller; customer: string; invoiceId: string; amount: number; refunds: Refund[] }
type Outcome = {
  /** Seconds from the first request to the last response. */
  seconds: number
  /** How often each kind of response was retried. */
  retries: Map<string, number>
  /** Responses that a retry would not change. */
  refusals: string[]
  worstMs: number
}
type Target = { api(): string; key: string }

const connections = 64
const givenUpAfterMs = 90_000
// A connection to a killed process may never answer.
const patienceMs = 10_000

/** Plans sales of random amounts; every twentieth without a limit is refunded, in one or two parts. */
export function planSales(sellers: Seller[], count: number): Sale[] {
  return Array.from({ length: count }, (_, number) => {
    const seller = sellers[randomInt(sellers.length)] as Seller
    const customer = seller.customers[randomInt(seller.customers.length)] as string
    const amount = randomInt(100, 10_000)
    const isRefunded = number % 20 === 0 && !seller.terms.limit
    return {
      seller,
      customer,
      invoiceId: `invoice-${number}`,
      amount,
      refunds: isRefunded ? planRefunds(number, amount) : [],
    }
  })
}

function planRefunds(number: number, amount: number): Refund[] {
  const refunds = [
    { refundId: `refund-${number}-a`, amount: randomInt(1, amount) },
    { refundId: `refund-${number}-b`, amount: null },
  ]
  return [refunds, refunds.slice(0, 1), refunds.slice(1)][randomInt(3)] as Refund[]
}

/** Sends the sales at a constant rate, each until it is answered, then its refunds. */
export async function sendSales(sales: Sale[], perSecond: number, target: Target): Promise<Outcome> {
  const outcome: Outcome = { seconds: 0, retries: new Map(), refusals: [], worstMs: 0 }
  const started = performance.now()
  let next = 0
  const keepSending = async () => {
    for (let number = next++; number < sales.length; number = next++) {
      const sale = sales[number] as Sale
      await sleep(Math.max(0, (number / perSecond) * 1_000 - (performance.now() - started)))
      const { customer: customerExternalId, invoiceId, amount } = sale
      // Half of the clients rely on the invoice id alone.
      const key = number % 2 ? invoiceId : undefined
      await send(target, '/track/sale', { customerExternalId, invoiceId, amount }, key, outcome)
      for (const { refundId, amount } of sale.refunds)
        await send(target, '/track/refund', { invoiceId, refundId, amount }, key && refundId, outcome)
    }
  }
  await Promise.all(Array.from({ length: connections }, keepSending))
  return { ...outcome, seconds: (performance.now() - started) / 1_000 }
}

/** Sends the same request until it is answered, as a client does. */
async function send(target: Target, path: string, body: object, key: string | undefined, outcome: Outcome) {
  const started = performance.now()
  for (;;) {
    const { status, text } = await attempt(target, path, body, key)
    const spent = performance.now() - started
    outcome.worstMs = Math.max(outcome.worstMs, spent)
    if (status === '200') return
    const isRefused = status.startsWith('4') && status !== '429'
    if (isRefused || spent > givenUpAfterMs) return void outcome.refusals.push(`${JSON.stringify(body)}: ${text}`)
    outcome.retries.set(status, (outcome.retries.get(status) ?? 0) + 1)
    await sleep(randomInt(50, 250))
  }
}

async function attempt({ api, key: token }: Target, path: string, body: object, key: string | undefined) {
  try {
    const response = await fetch(api() + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key && { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    })
    return { status: String(response.status), text: await response.text() }
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } }
    return { status: cause?.code ?? name, text: String(error) }
  }
}
