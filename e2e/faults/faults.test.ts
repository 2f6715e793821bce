import { expect, test } from 'vitest'
import { clusterFaults, type Fault, faults, shortPace } from './faults.ts'
import { type Line, tableOf } from './line.ts'
import { runFaults } from './run.ts'
import { openFaultStack } from './stack.ts'

const slowMachineMs = 240_000

async function runShort(list: Fault[], cluster: boolean): Promise<Line[]> {
  await using stack = await openFaultStack({ cluster, settings: { INGEST_INTERVAL_MS: '100' } })
  const lines = await runFaults(stack, list, { pace: shortPace, report: console.info })
  console.info(tableOf(lines))
  return lines
}

test(
  'whatever dies under load, every answered click is stored and counted once, and no redirect fails',
  async () => {
    const lines = await runShort(faults, false)
    expect(lines.filter(({ problems }) => problems.length > 0)).toEqual([])
  },
  slowMachineMs,
)

test(
  'the same when the leader of three NATS nodes dies',
  async () => {
    const lines = await runShort(clusterFaults, true)
    expect(lines.filter(({ problems }) => problems.length > 0)).toEqual([])
  },
  slowMachineMs,
)
