import { setTimeout as sleep } from 'node:timers/promises'

export type Answer = { status: number; body: Record<string, unknown> & unknown[] }
export type Request = (method: string, path: string, body?: object) => Promise<Answer>
export type Tally = {
  /** Responses by path and status. */
  byStatus: Map<string, number>
  /** Responses of 500 and above, and requests without a response. */
  failures: string[]
  worstMs: number
}

const patienceMs = 30_000

/** Sends requests with an API key and counts the responses. A request that gets none has the status 0. */
export function openRequests(api: string, key: string): { request: Request; tally: Tally } {
  const tally: Tally = { byStatus: new Map(), failures: [], worstMs: 0 }
  const request = async (method: string, path: string, body?: object): Promise<Answer> => {
    const started = performance.now()
    const { status, text } = await fetch(api + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error: Error) => ({ status: 0, text: JSON.stringify({ error: String(error) }) }),
    )
    tally.worstMs = Math.max(tally.worstMs, performance.now() - started)
    const name = `${method} ${path.replace(/\?.*/, '').replaceAll(/(cm|pn|rw|grp)_[\w-]+/g, '$1')} ${status}`
    tally.byStatus.set(name, (tally.byStatus.get(name) ?? 0) + 1)
    if (status === 0 || status >= 500) tally.failures.push(`${name} ${text.slice(0, 300)}`)
    return { status, body: JSON.parse(text || '{}') }
  }
  return { request, tally }
}

/** Runs actions from so many clients at once until the time is over; each client picks its next by weight. */
export async function runClients(
  actions: { weight: number; run(): Promise<unknown> }[],
  { clients, seconds }: { clients: number; seconds: number },
): Promise<void> {
  const weighted = actions.flatMap(({ weight, run }) => Array.from({ length: weight }, () => run))
  const until = performance.now() + seconds * 1_000
  const keepActing = async () => {
    while (performance.now() < until) {
      await pick(weighted)()
      await sleep(Math.random() * 20)
    }
  }
  await Promise.all(Array.from({ length: clients }, keepActing))
}

export function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T
}
