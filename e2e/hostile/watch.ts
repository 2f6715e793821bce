import { readFile } from 'node:fs/promises'

export type Supervised = { role: string; pid: number; restarts: number }

/** Returns the processes of a server with several roles, from `/readyz`. */
export async function readProcesses(ops: string): Promise<Supervised[]> {
  const answer = (await (await fetch(`${ops}/readyz`)).json()) as { processes?: Supervised[] }
  return answer.processes ?? []
}

/** Samples the resident memory of each process four times a second; returns the maximum in megabytes. */
export function watchMemory(processes: Pick<Supervised, 'role' | 'pid'>[]) {
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
