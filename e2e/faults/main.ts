import { canMount } from '../../server/test/disk/small-disk.ts'
import { clusterFaults, faults, longPace, shortPace } from './faults.ts'
import { diskSizes, fullFaults, fullSettings } from './full-engines.ts'
import { formatTable, type Line } from './line.ts'
import { runFaults } from './run.ts'
import { openFaultStack } from './stack.ts'

/*
 * `npm run test:faults`: runs every fault once under a steady load, and prints a table. `-- --short` for the form that
 * the tests run, `-- <words>` for the faults whose name contains them.
 */
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const pace = process.argv.includes('--short') ? shortPace : longPace
const report = (text: string) => process.stderr.write(`${text}\n`)
const lines: Line[] = []
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
for (const [list, options] of [
  [faults, {}],
  [fullFaults, { disks: diskSizes, settings: fullSettings }],
  [clusterFaults, { cluster: true }],
] as const) {
  const chosen = list.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word.toLowerCase())))
  if (chosen.length === 0) continue
  if ('disks' in options && !(await canMount())) {
    report('skipping full disks: this user may not mount file systems')
    continue
  }
  const settings = { INGEST_INTERVAL_MS: '100', ...('settings' in options && options.settings) }
  await using stack = await openFaultStack({ ...options, settings })
  lines.push(...(await runFaults(stack, chosen, { pace, report })))
}
console.log(formatTable(lines))
if (lines.some(({ problems }) => problems.length > 0)) process.exitCode = 1
