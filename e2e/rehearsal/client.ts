import { setTimeout as sleep } from 'node:timers/promises'
import { newTally, type Tally } from '../faults/load.ts'
import { botReasons, openVisits, type TargetLink, type Visit, type Visits } from '../faults/visits.ts'
import { openVisitor, type Visitor } from './visitor.ts'
import { openWriter, type WriterOptions, type Writes } from './writer.ts'

/*
 * One client of the rehearsal: a process in the client's own namespace, which main.ts tells when to send. It visits links
 * and writes at a constant rate, however long responses take.
 */
export type Order =
  | {
      do: 'start'
      caddies: string[]
      links: TargetLink[]
      perSecond: number
      firstVisitor: number
      repeats: boolean
      writer: WriterOptions
    }
  | { do: 'stop' }

/** A request that failed or took long, in milliseconds since 1970. */
export type Incident = { what: 'visit' | 'write'; from: number; until: number; problem?: string }
export type Outcome = { tally: Tally; retried: Map<string, number>; writes: Writes; incidents: Incident[] }

const everyMs = 10
const slowMs = 1_000
const retryAfterMs = 100

let finish: (() => Promise<Outcome>) | undefined
process.on('message', async (order: Order) => {
  if (order.do === 'start') finish = start(order)
  else process.send?.(await finish?.())
})
// The rehearsal has ended.
process.on('disconnect', () => process.exit(0))

function start(order: Extract<Order, { do: 'start' }>): () => Promise<Outcome> {
  const { caddies, links, perSecond, firstVisitor, repeats } = order
  const visitor = openVisitor(caddies)
  const visits = openVisits(links, { repeats, firstVisitor })
  const outcome: Omit<Outcome, 'writes'> = { tally: newTally(), retried: new Map(), incidents: [] }
  const running = new Set<Promise<void>>()
  const writer = openWriter(order.writer, note)
  const started = performance.now()
  let count = 0

  function note(incident: Incident): void {
    if (incident.problem !== undefined || incident.until - incident.from > slowMs) outcome.incidents.push(incident)
  }

  const timer = setInterval(() => {
    for (; count < ((performance.now() - started) / 1_000) * perSecond; count++) {
      const visiting = visit(visitor, visits, outcome, note).finally(() => running.delete(visiting))
      running.add(visiting)
    }
  }, everyMs)

  return async () => {
    clearInterval(timer)
    await Promise.all(running)
    return { ...outcome, writes: await writer.stop() }
  }
}

/** Opens a link as a person does, who retries once when it fails. */
async function visit(
  visitor: Visitor,
  visits: Visits,
  { tally, retried }: Pick<Outcome, 'tally' | 'retried'>,
  note: (incident: Incident) => void,
): Promise<void> {
  const one = visits.next()
  if (one.kind === 'person') tally.sent += 1
  const from = Date.now()
  const attempt = async (send: Visitor['send']) => {
    const status = await send(one.request)
    if (status !== 302) throw new Error(`status ${status}`)
  }
  try {
    await attempt(visitor.send).catch(async ({ message }: Error) => {
      note({ what: 'visit', from, until: Date.now(), problem: message })
      retried.set(message, (retried.get(message) ?? 0) + 1)
      await sleep(retryAfterMs)
      await attempt(visitor.sendAgain)
    })
    visits.remember(one)
    add(tally, one)
  } catch (error) {
    const { message } = error as Error
    tally.failures.set(message, (tally.failures.get(message) ?? 0) + 1)
  }
  note({ what: 'visit', from, until: Date.now() })
  tally.worstMs = Math.max(tally.worstMs, Date.now() - from)
}

function add(tally: Tally, { kind, link }: Visit): void {
  if (kind === 'person') {
    tally.answered += 1
    tally.byLink.set(link.id, (tally.byLink.get(link.id) ?? 0) + 1)
  } else if (kind === 'repeat') tally.repeats += 1
  else tally.bots[botReasons[kind]] = (tally.bots[botReasons[kind]] ?? 0) + 1
}
