import { readFile } from 'node:fs/promises'

export type Supervised = { role: string; pid: number; restarts: number }

/** The processes of a server with several roles, as `/readyz` shows them. */
export async function readProcesses(ops: string): Promise<Supervised[]> {
  const answer = (await (await fetch(`${ops}/readyz`)).json()) as { processes?: Supervised[] }
  return answer.processes ?? []
}

/** The highest resident memory of each process in megabytes, looked at four times a second. */
export function watchMemory(processes: Supervised[]) {
  const highest = new Map<string, number>()
  let total = 0
  const look = async () => {
    const now = await Promise.all(processes.map(async ({ role, pid }) => [role, await residentMegabytes(pid)] as const))
    for (const [role, megabytes] of now) highest.set(role, Math.max(highest.get(role) ?? 0, megabytes))
    total = Math.max(
      total,
      now.reduce((sum, [, megabytes]) => sum + megabytes, 0),
    )
  }
  const timer = setInterval(() => void look().catch(() => {}), 250)
  return {
    highest: () => ({ ...Object.fromEntries(highest), total }),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024)
}

/** Calls again and again until stopped; how long each call took, and its statuses. */
export function callRepeatedly(calls: (() => Promise<number>)[], everyMs: number) {
  const durations: number[] = []
  const statuses = new Map<number, number>()
  const stopping = new AbortController()
  const run = async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const started = performance.now()
      const status = await (calls[turn % calls.length] as () => Promise<number>)()
      durations.push(performance.now() - started)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  const running = run()
  return {
    statuses,
    async stop(): Promise<{ p99: number; calls: number }> {
      stopping.abort()
      await running
      durations.sort((a, b) => a - b)
      return { p99: Math.round(durations[Math.floor(durations.length * 0.99)] ?? 0), calls: durations.length }
    },
  }
}
