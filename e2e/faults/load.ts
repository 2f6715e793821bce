import type { Balancer } from './balancer.ts'
import { botReasons, type Visit, type Visits } from './visits.ts'

/** Counts of sent and answered visits; first visits of people must be counted by the server. */
export type Tally = {
  sent: number
  answered: number
  repeats: number
  bots: Record<string, number>
  byLink: Map<string, number>
  failures: Map<string, number>
  worstMs: number
}

export type Load = {
  tally: Tally
  /** Stops sending; resolves when every request is answered. */
  pause(): Promise<void>
  resume(): void
}

const everyMs = 10

/** Sends visits at a constant rate, however long responses take. */
export function startLoad(balancer: Balancer, visits: Visits, perSecond: number): Load {
  const tally = newTally()
  const running = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  function resume(): void {
    const started = performance.now()
    let count = 0
    timer = setInterval(() => {
      for (; count < ((performance.now() - started) / 1000) * perSecond; count++) {
        const visiting = send(balancer, visits, visits.next(), tally).finally(() => running.delete(visiting))
        running.add(visiting)
      }
    }, everyMs)
  }

  resume()
  return {
    tally,
    async pause() {
      clearInterval(timer)
      await Promise.all(running)
    },
    resume,
  }
}

/** Sends visits as fast as possible on several connections, until that many people were sent. */
export async function loadFully(
  balancer: Balancer,
  visits: Visits,
  tally: Tally,
  given: { connections: number; people: number },
): Promise<void> {
  const keepSending = async () => {
    while (tally.sent < given.people) await send(balancer, visits, visits.next(), tally)
  }
  await Promise.all(Array.from({ length: given.connections }, keepSending))
}

export async function send(
  balancer: Pick<Balancer, 'send'>,
  visits: Visits,
  visit: Visit,
  tally: Tally,
): Promise<void> {
  const { kind, link } = visit
  if (kind === 'person') tally.sent += 1
  const since = performance.now()
  try {
    const status = await balancer.send(visit.request)
    if (status !== 302) throw new Error(`status ${status}`)
    visits.remember(visit)
    if (kind === 'person') {
      tally.answered += 1
      tally.byLink.set(link.id, (tally.byLink.get(link.id) ?? 0) + 1)
    } else if (kind === 'repeat') tally.repeats += 1
    else tally.bots[botReasons[kind]] = (tally.bots[botReasons[kind]] ?? 0) + 1
  } catch (error) {
    const { message } = error as Error
    tally.failures.set(message, (tally.failures.get(message) ?? 0) + 1)
  }
  tally.worstMs = Math.max(tally.worstMs, performance.now() - since)
}

export function newTally(): Tally {
  return { sent: 0, answered: 0, repeats: 0, bots: {}, byLink: new Map(), failures: new Map(), worstMs: 0 }
}
