import { readdirSync, readFileSync } from 'node:fs'

// USER_HZ, which is 100 on every Linux architecture that Node.js supports.
const tickMs = 10

/** CPU time of a process and its running descendants, from Linux's /proc; unlike wall time, it ignores other load. */
export function readCpuMs(rootPid: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readStat(Number(pid)) ?? [])
  const family = new Set([rootPid])
  let ticks = 0
  for (const { pid, parent, used } of processes.sort((a, b) => a.pid - b.pid)) {
    if (!family.has(pid) && !family.has(parent)) continue
    family.add(pid)
    ticks += used
  }
  return ticks * tickMs
}

function readStat(pid: number): { pid: number; parent: number; used: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { pid, parent: Number(fields[1]), used: Number(fields[11]) + Number(fields[12]) }
  } catch {
    return undefined
  }
}
