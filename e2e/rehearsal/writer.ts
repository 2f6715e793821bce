import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Incident } from './client.ts'
import { apiHost } from './hosts.ts'

export type WriterOptions = {
  caddies: string[]
  /** Certificates of the authorities of all Caddys. */
  authorities: string
  key: string
  domain: string
  customer: string
  /** Begins all names that this writer gives. */
  prefix: string
  perSecond: number
}
/** Acknowledged writes, and attempts that failed and were repeated. */
export type Writes = { links: number; sales: number; failed: Map<string, number>; givenUp: string[] }
type Attempt = { path: string; body: unknown; once: string }

const everyMs = 100
const answerWithinMs = 10_000
const retryAfterMs = 500
const triedForMs = 240_000

/** Creates links and sales through Caddy at a constant rate. A failed write is repeated with the same key, as the API's clients do. */
export function openWriter(options: WriterOptions, note: (incident: Incident) => void) {
  const agent = new Agent({ keepAlive: true, ca: options.authorities })
  const writes: Writes = { links: 0, sales: 0, failed: new Map(), givenUp: [] }
  const running = new Set<Promise<void>>()
  const started = performance.now()
  let [count, turn] = [0, 0]

  const timer = setInterval(() => {
    for (; count < ((performance.now() - started) / 1_000) * options.perSecond; count++) {
      const writing = write(count).finally(() => running.delete(writing))
      running.add(writing)
    }
  }, everyMs)

  async function write(number: number): Promise<void> {
    const once = `${options.prefix}-${number}`
    const isLink = number % 2 === 0
    const link = { domain: options.domain, key: once, url: `https://example.com/${once}` }
    const sale = { customerExternalId: options.customer, amount: 100, invoiceId: once }
    const attempt = isLink ? { path: '/links', body: link, once } : { path: '/track/sale', body: sale, once }
    const from = Date.now()
    for (;;) {
      const problem = await post(options, agent, attempt, turn).catch((error: Error) => error.message)
      if (problem === undefined) break
      note({ what: 'write', from, until: Date.now(), problem })
      writes.failed.set(problem, (writes.failed.get(problem) ?? 0) + 1)
      turn += 1
      if (Date.now() - from > triedForMs) return void writes.givenUp.push(`${once}: ${problem}`)
      await sleep(retryAfterMs)
    }
    note({ what: 'write', from, until: Date.now() })
    if (isLink) writes.links += 1
    else writes.sales += 1
  }

  return {
    async stop(): Promise<Writes> {
      clearInterval(timer)
      await Promise.all(running)
      agent.destroy()
      return writes
    },
  }
}

/** Returns undefined for a successful write. */
function post(
  { caddies, key }: Pick<WriterOptions, 'caddies' | 'key'>,
  agent: Agent,
  { path, body, once }: Attempt,
  turn = 0,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: apiHost,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': once,
    }
    const host = caddies[turn % caddies.length]
    const options = { agent, host, servername: apiHost, path, method: 'POST', headers, timeout: answerWithinMs }
    const sent = request(options, async (response) => {
      const answer = await text(response).catch(reject)
      const status = response.statusCode ?? 0
      resolve(status < 300 ? undefined : `${path}: ${status} ${String(answer).slice(0, 200)}`)
    })
    sent.on('timeout', () => sent.destroy(new Error(`${path}: no response within ${answerWithinMs} ms`)))
    sent.on('error', reject).end(JSON.stringify(body))
  })
}
