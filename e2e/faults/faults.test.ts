import { expect, test } from 'vitest'
import { canMount } from '../../server/test/disk/small-disk.ts'
import { clusterFaults, type Fault, faults, shortPace } from './faults.ts'
import { diskSizes, fullFaults, fullSettings } from './full-engines.ts'
import { formatTable, type Line } from './line.ts'
import { runFaults } from './run.ts'
import { openFaultStack } from './stack.ts'

const slowMachineMs = 240_000

type Options = NonNullable<Parameters<typeof openFaultStack>[0]>

async function runShort(list: Fault[], options: Options = {}): Promise<Line[]> {
  const settings = { INGEST_INTERVAL_MS: '100', ...options.settings }
  await using stack = await openFaultStack({ ...options, settings })
  const short = list.filter(({ isFullOnly }) => !isFullOnly)
  const lines = await runFaults(stack, short, { pace: shortPace, report: console.info })
  console.info(formatTable(lines))
  return lines
}

test(
  'whichever process dies under load, every answered click is stored and counted once, and no redirect fails',
  async () => {
    const lines = await runShort(faults)
    expect(lines.filter(({ problems }) => problems.length > 0)).toEqual([])
  },
  slowMachineMs,
)

test.skipIf(!(await canMount()))(
  'with full NATS streams or a full database disk no answered click is lost, and all recover when space is free',
  async () => {
    const lines = await runShort(fullFaults, { disks: diskSizes, settings: fullSettings })
    expect(lines.filter(({ problems }) => problems.length > 0)).toEqual([])
  },
  2 * slowMachineMs,
)

test(
  'when the leader of three NATS nodes dies, every answered click is stored and counted once',
  async () => {
    const lines = await runShort(clusterFaults, { cluster: true })
    expect(lines.filter(({ problems }) => problems.length > 0)).toEqual([])
  },
  slowMachineMs,
)
