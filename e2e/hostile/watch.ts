import { readFile } from 'node:fs/promises'

export type Supervised = { role: string; pid: number; restarts: number }

/** Returns the processes of a server with several roles, from `/readyz`. */
export async function readProcesses(ops: string): Promise<Supervised[]> {
  const answer = (await (await fetch(`${ops}/readyz`)).json()) as { processes?: Supervised[] }
  return answer.processes ?? []
}

/**
 * Samples the resident memory of each process four times a second; returns the maximum in megabytes since the start or
 * the last reset. `own` excludes program text, which all processes share.
 */
export function watchMemory(processes: Pick<Supervised, 'role' | 'pid'>[], kind: 'all' | 'own' = 'all') {
  const highest = new Map<string, number>()
  let total = 0
  const look = async () => {
    const now = await Promise.all(
      processes.map(async ({ role, pid }) => [role, await residentMegabytes(pid, kind)] as const),
    )
    for (const [role, megabytes] of now) highest.set(role, Math.max(highest.get(role) ?? 0, megabytes))
    total = Math.max(
      total,
      now.reduce((sum, [, megabytes]) => sum + megabytes, 0),
    )
  }
  const timer = setInterval(() => void look().catch(() => {}), 250)
  return {
    highest: (): Record<string, number> => ({ ...Object.fromEntries(highest), total }),
    reset() {
      highest.clear()
      total = 0
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function residentMegabytes(pid: number, kind: 'all' | 'own'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const field = kind === 'own' ? /RssAnon:\s+(\d+)/ : /VmRSS:\s+(\d+)/
  return Math.round(Number(field.exec(status)?.[1] ?? 0) / 1_024)
}
