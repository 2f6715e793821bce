import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type HonestTask = {
  api: string
  redirect: string
  key: string
  domain: string
  link: { id: string; key: string }
}
export type Call = { name: string; at: number; ms: number; status: number }
export type HonestReport = { calls: Call[]; visits: number; leads: number }

const program = fileURLToPath(new URL('./honest.ts', import.meta.url))

/** Starts the honest client. `report` returns its calls since the last report, `stop` returns the rest. */
export function startHonest(task: HonestTask) {
  const child = fork(program, {
    env: { PATH: process.env.PATH, HONEST_TASK: JSON.stringify(task) },
    execArgv: [],
  })
  const ask = async (message: 'report' | 'stop'): Promise<HonestReport> => {
    child.send(message)
    const [report] = await once(child, 'message')
    return report as HonestReport
  }
  return {
    report: () => ask('report'),
    stop: () => ask('stop'),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

/** Returns the median and 99th percentile of all calls in milliseconds, and the 99th percentile by type. */
export function summarize(calls: Call[]) {
  const byName = Map.groupBy(calls, ({ name }) => name)
  const kinds = [...byName].map(([name, own]) => [name, percentile(own, 0.99)] as const)
  const failed = calls.filter(({ status }) => status !== 200 && status !== 302)
  return {
    p50: percentile(calls, 0.5),
    p99: percentile(calls, 0.99),
    calls: calls.length,
    kinds: Object.fromEntries(kinds),
    failed,
  }
}

function percentile(calls: Call[], part: number): number {
  const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0)
}
