import { join } from 'node:path'
import { verify, waitUntilCounted } from '../faults/count.ts'
import { formatRows } from '../faults/line.ts'
import { newTally } from '../faults/load.ts'
import { unpackOldVersion } from '../old-version.ts'
import { type Fault, faults } from './faults.ts'
import { createFixtures } from './fixtures.ts'
import { hosts } from './hosts.ts'
import { measure, openCounts, type Result } from './measure.ts'
import { currentProgram, lastLines, openStack, type Report, type Stack, startRoles } from './stack.ts'

export type Options = { id: string; folder: string; only?: string; visits: number; writes: number; steadyMs: number }

const firstCountWithinMs = 180_000

/** Runs the faults from the operator's host; returns whether every promise was kept. */
export async function runRehearsal(options: Options): Promise<boolean> {
  const began = Date.now()
  const report: Report = (text) =>
    process.stderr.write(`${((Date.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${text}\n`)
  const chosen = selectFaults(options.only)
  const old = chosen.some(({ needsOldVersion }) => needsOldVersion)
    ? await unpackOldVersion(join(options.folder, 'old-version'))
    : undefined
  const possible = old ? chosen : chosen.filter(({ needsOldVersion }) => !needsOldVersion)
  if (possible.length < chosen.length)
    report('skipping the upgrade: this clone has no version before the newest migration')
  await using stack = await openStack(options.id, options.folder, report, old ?? currentProgram)
  report(`starting ${hosts.length} hosts in two regions, 20 ms apart`)
  await startRoles(stack)
  report('creating workspaces and links')
  const fixtures = await createFixtures(stack)
  const counted = openCounts(stack, fixtures)
  await waitUntilCounted(counted, newTally(), firstCountWithinMs)
  const results: Result[] = []
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.log(formatResults(results))
      process.exit(1)
    })
  try {
    for (const fault of possible) {
      report(`${fault.name} …`)
      const rates = { visits: options.visits, writes: options.writes }
      const result = await measure(stack, fixtures, counted, fault, { rates, steadyMs: options.steadyMs })
      results.push(result)
      await reportResult(stack, result, report)
    }
    report('tributary verify')
    const difference = await verify(counted)
    if (difference !== undefined) report(`BROKEN: tributary verify found differences:\n${difference}`)
    return difference === undefined && results.every(({ problems }) => problems.length === 0)
  } catch (error) {
    await reportLogs(stack, report)
    throw error
  } finally {
    console.log(formatResults(results))
  }
}

async function reportResult(stack: Stack, { fault, causes, problems }: Result, report: Report): Promise<void> {
  report(`${fault}: ${problems.length === 0 ? 'kept' : 'BROKEN'}`)
  for (const [cause, count] of causes) report(`  ${count} times: ${cause}`)
  for (const problem of problems) report(`  ${problem}`)
  if (problems.length > 0) await reportLogs(stack, report)
}

/** Faults whose name contains one of the texts that commas separate. */
export function selectFaults(only = ''): Fault[] {
  const texts = only.split(',').map((text) => text.trim().toLowerCase())
  return faults.filter(({ name }) => texts.some((text) => name.toLowerCase().includes(text)))
}

async function reportLogs({ installation }: Stack, report: Report): Promise<void> {
  for (const host of hosts) {
    const lines = (await lastLines(installation.folder, host, 60)).split('\n')
    const complaints = lines.filter((line) =>
      /"level":"(warn|error|fatal)"|\[ERR\]|FATAL|PANIC|"level":"error"/.test(line),
    )
    for (const line of complaints.slice(-4)) report(`  ${host.name}: ${line.slice(0, 240)}`)
  }
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1)
const columns: [string, (result: Result) => string | number][] = [
  ['fault', ({ fault }) => fault],
  ['visits', ({ visits }) => visits],
  ['lost', ({ lost }) => lost],
  ['doubled', ({ doubled }) => doubled],
  ['failed at first', ({ retried }) => retried],
  ['failed again', ({ failed }) => failed],
  ['longest ms', ({ worstMs }) => Math.round(worstMs)],
  ['visits recover s', ({ visitsRecoveredMs }) => seconds(visitsRecoveredMs)],
  ['writes', ({ writes }) => writes],
  ['lost', ({ writesLost }) => writesLost],
  ['doubled', ({ writesDoubled }) => writesDoubled],
  ['repeated', ({ writesRetried }) => writesRetried],
  ['writes recover s', ({ writesRecoveredMs }) => seconds(writesRecoveredMs)],
  ['all counted s', ({ countedMs }) => seconds(countedMs)],
  ['change seen s', ({ changedMs }) => seconds(changedMs)],
  ['promises', ({ problems }) => (problems.length === 0 ? 'kept' : 'BROKEN')],
]

function formatResults(results: Result[]): string {
  return formatRows([
    columns.map(([name]) => name),
    ...results.map((result) => columns.map(([, cell]) => String(cell(result)))),
  ])
}
