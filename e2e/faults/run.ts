import { setTimeout as sleep } from 'node:timers/promises'
import { canMount } from '../../server/test/disk/small-disk.ts'
import { readCounts, verify, waitUntilCounted } from './count.ts'
import type { Fault, Pace } from './faults.ts'
import { useFullDisk } from './full-disk.ts'
import { buildLine, type Line } from './line.ts'
import { startLoad } from './load.ts'
import type { FaultStack } from './stack.ts'
import { openVisits } from './visits.ts'

export type Report = (text: string) => void

const countedWithinMs = 120_000
let visitors = 0

/** Runs each fault under a steady load, and counts clicks after each. */
export async function runFaults(
  stack: FaultStack,
  faults: Fault[],
  { pace, report }: { pace: Pace; report: Report },
): Promise<Line[]> {
  const possible = (await canMount()) ? faults : faults.filter(({ prepare }) => prepare !== useFullDisk)
  if (possible.length < faults.length) report('skipping full disks: this user may not mount file systems')
  const lines: Line[] = []
  let prepared: { by: Fault['prepare']; parts?: AsyncDisposable } = { by: undefined }
  try {
    for (const fault of possible) {
      const started = performance.now()
      if (fault.prepare !== prepared.by) {
        await prepared.parts?.[Symbol.asyncDispose]()
        prepared = { by: fault.prepare, parts: await fault.prepare?.(stack) }
      }
      const line = await runFault(stack, fault, pace)
      const found = pace.verifyEach || fault === possible.at(-1) ? await verify(stack) : undefined
      if (found !== undefined) line.problems.push(`tributary verify: ${found}`)
      lines.push(line)
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      report(`${fault.name}: ${line.problems.length === 0 ? 'exact' : line.problems.join('\n  ')} (${seconds} s)`)
      if (line.problems.length > 0) report(readComplaints(stack))
    }
  } finally {
    await prepared.parts?.[Symbol.asyncDispose]()
  }
  return lines
}

async function runFault(stack: FaultStack, fault: Fault, pace: Pace): Promise<Line> {
  const before = await readCounts(stack)
  const visits = openVisits(stack.links, { repeats: !fault.withoutRepeats, firstVisitor: visitors })
  visitors += 10_000_000
  const load = startLoad(stack.balancer, visits, pace.perSecond)
  try {
    await sleep(pace.steadyMs)
    await fault.happen(stack, pace, load)
    await sleep(pace.steadyMs)
  } finally {
    await load.pause()
  }
  const stuck = await waitUntilCounted(stack, load.tally, countedWithinMs).then(
    () => [],
    (error: Error) => [error.message],
  )
  const after = await readCounts(stack)
  const line = buildLine(fault.name, { tally: load.tally, before, after }, fault.mayLose === true)
  return { ...line, problems: [...stuck, ...line.problems] }
}

/** Returns the last warnings in the processes' logs, to find the cause of a failure. */
export function readComplaints({ api, redirects, workers }: FaultStack): string {
  const named = { api: [api], redirect: redirects, worker: workers }
  return Object.entries(named)
    .flatMap(([role, servers]) =>
      servers.flatMap(({ pid, log }) => {
        const complaints = log.filter((line) => !line.includes('"level":"info"') && !line.includes('"level":30'))
        return complaints.slice(-8).map((line) => `  ${role} ${pid}: ${line.slice(0, 300)}`)
      }),
    )
    .join('\n')
}
