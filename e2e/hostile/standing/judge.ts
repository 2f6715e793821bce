import type { ServerProcess } from '../../../server/test/server-process.ts'
import { summarize } from '../measure.ts'
import type { attack } from '../standing.ts'
import { type Tally, totalCount } from './tally.ts'

type Result = Awaited<ReturnType<typeof attack>>
type Verified = { isExact: boolean; text: string }

/** The table of docs/guides/operating.md: each process's own memory in megabytes, without the shared program text. */
const mostMegabytes: Record<string, number> = { supervisor: 70, api: 260, redirect: 190, worker: 300 }
const countedWithinMs = 120_000

/** Compares what the honest workspace got, and how the processes fared, with what the installation promises. */
export async function judge(
  { tally, alone, beside, minutes, restarts, workspace, link, visits, leads }: Result,
  server: ServerProcess,
  verify: () => Promise<Verified>,
  limits: { apiMs: number; redirectMs: number },
) {
  const problems: string[] = []
  const demand = (isMet: boolean, problem: string) => void (isMet || problems.push(problem))
  const { sent, passed, failed, busy } = totalCount(tally)
  demand(failed === 0, `${failed} requests got a 5xx or no response in time`)
  // Visits need no key, so they alone would always be enough.
  const { visit: _, socket: __, ...calls } = tally.counts
  const api = totalCount({ counts: calls, failures: [] })
  demand(
    api.passed >= api.sent / 2,
    `only ${api.passed} of ${api.sent} calls of the API passed authentication and limits`,
  )
  demand(restarts.length === 0, `restarted: ${restarts.map(({ role }) => role).join(', ')}`)
  for (const [minute, memory] of minutes.entries()) {
    for (const [role, most] of Object.entries(mostMegabytes))
      demand((memory[role] ?? 0) <= most, `in minute ${minute + 1}, ${role} had ${memory[role]} MB, more than ${most}`)
  }
  const errors = server.log.filter((line) => /"level":"(error|fatal)"/.test(line))
  demand(errors.length === 0, `${errors.length} errors in the log, first: ${errors.slice(0, 3).join('\n')}`)

  const [visiting, calling] = [true, false].map((isVisit) =>
    summarize(beside.filter(({ name }) => (name === 'visit') === isVisit)),
  ) as [ReturnType<typeof summarize>, ReturnType<typeof summarize>]
  const rejected = [...visiting.failed, ...calling.failed]
  demand(
    rejected.length === 0,
    `the honest workspace got ${rejected.map(({ name, status }) => `${status} for ${name}`)}`,
  )
  demand(calling.p99 <= limits.apiMs, `the honest p99 of the API is ${calling.p99} ms, more than ${limits.apiMs}`)
  demand(
    visiting.p99 <= limits.redirectMs,
    `that of the redirect is ${visiting.p99} ms, more than ${limits.redirectMs}`,
  )

  const counted = await waitForCounts(server, workspace.key, link.id, { clicks: visits, leads })
  demand(counted === '', counted)
  const verified = await verify()
  demand(verified.isExact, `tributary verify: ${verified.text}`)
  const before = summarize(alone)
  const text = [
    `${sent} inputs, ${passed} passed authentication and limits, ${failed} failed, ${busy} deliberate 503 or 504`,
    `honest API p99 ${calling.p99} ms (p50 ${calling.p50}), redirect p99 ${visiting.p99} ms (p50 ${visiting.p50}); alone p99 ${before.p99} ms ${JSON.stringify(before.kinds)}`,
    `honest calls ${calling.calls + visiting.calls}: ${visits} visits and ${leads} leads; ${verified.text.split('\n').at(-1)}`,
    `503 and 504 by operation: ${formatBusy(tally)}`,
    `most memory ${JSON.stringify(highest(minutes))}, ${restarts.length} restarts, ${errors.length} errors in the log`,
  ].join('\n')
  return { problems, text }
}

/** The share page is 503 until `npm run dashboard` has built it. */
function formatBusy({ counts }: Tally): string {
  const busy = Object.entries(counts).filter(([, count]) => count.busy > 0)
  return busy.map(([name, count]) => `${name} ${count.busy}`).join(', ') || 'none'
}

async function waitForCounts(server: ServerProcess, key: string, linkId: string, expected: Record<string, number>) {
  const until = Date.now() + countedWithinMs
  for (;;) {
    const response = await fetch(`${server.api}/links/info?linkId=${linkId}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const found = (await response.json()) as Record<string, number>
    const wrong = Object.entries(expected).filter(([name, count]) => found[name] !== count)
    if (wrong.length === 0) return ''
    if (Date.now() > until) return wrong.map(([name, count]) => `${found[name]} of ${count} ${name} are counted`).join()
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

function highest(minutes: Result['minutes']): Record<string, number> {
  const most: Record<string, number> = {}
  for (const memory of minutes)
    for (const [role, megabytes] of Object.entries(memory)) most[role] = Math.max(most[role] ?? 0, megabytes)
  return most
}
