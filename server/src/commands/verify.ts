import { defineCommand } from 'citty'
import { type Finding, reconcile } from '../features/ingest/reconcile.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { jsonFlag, onDatabases, print, table } from './run.ts'

const mostShown = 100
const lineEveryMs = 5_000

export const verify = defineCommand({
  meta: {
    name: 'verify',
    description: 'Compare the counter of every link with its stored clicks; exit code 1 when they differ',
  },
  args: {
    repair: { type: 'boolean', description: 'Set counters that differ to what is stored', default: false },
    workspace: { type: 'string', description: 'Id or slug of one workspace; all when omitted' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = args.workspace ? await requireWorkspace(handles, args.workspace) : undefined
      const showProgress = progress()
      const shown: Finding[] = []
      const found = { links: 0, different: 0, repaired: 0, unknown: 0, doubled: 0 }
      for await (const step of reconcile(handles, { workspaceId: workspace?.id, repair: args.repair })) {
        found.links += step.links
        for (const finding of step.findings) {
          if (finding.linkId === null) found.unknown += 1
          else if (finding.counter !== finding.rows) found.different += 1
          if (finding.repaired) found.repaired += 1
          found.doubled += finding.doubled
          if (args.json || shown.length < mostShown) shown.push(finding)
        }
        showProgress(step.percent, found.links)
      }
      print(args.json, { ...found, findings: shown.map(presented) }, textOf(found, shown, args.repair))
      if (found.different > found.repaired || found.unknown > 0 || found.doubled > 0) process.exitCode = 1
    }),
})

type Found = { links: number; different: number; repaired: number; unknown: number; doubled: number }

function textOf(found: Found, shown: Finding[], repair: boolean): string {
  const { links, different, repaired, unknown, doubled } = found
  if (shown.length === 0) return `Links checked: ${links}. Every counter is what is stored.`
  const rows = shown.map((finding) => ({
    link: finding.linkId ?? `unknown (number ${finding.linkNumber})`,
    address: finding.address ?? '',
    counter: String(finding.counter ?? ''),
    rows: String(finding.rows),
    doubled: String(finding.doubled),
    ...(repair && { repaired: finding.repaired ? 'yes' : 'no' }),
  }))
  const lines = [
    table(rows),
    '',
    `Links checked: ${links}. Counters that differ: ${different}. Unknown links with rows: ${unknown}. Doubled rows: ${doubled}.`,
  ]
  if (shown.length === mostShown) lines.push(`At most ${mostShown} are shown; --json lists all.`)
  if (repair) lines.push(`Counters set to their rows: ${repaired}.`)
  else if (different > 0) lines.push('Next: tributary verify --repair sets these counters to their rows.')
  if (repair && repaired < different)
    lines.push('The others have a batch of clicks under way that does not end: is a worker running? Then try again.')
  return lines.join('\n')
}

function presented({ linkId, linkNumber, workspaceId, address, counter, rows, doubled, repaired }: Finding) {
  return { linkId, linkNumber, workspaceId, address, counter, rows, doubled, repaired }
}

/** One line that changes on a terminal; elsewhere a line now and then. */
function progress(): (percent: number, links: number) => void {
  let last = Date.now()
  return (percent, links) => {
    const text = `${String(percent).padStart(3)} %, ${links} links`
    if (process.stderr.isTTY) {
      const bar = '#'.repeat(Math.floor(percent / 5)).padEnd(20, '.')
      process.stderr.write(`\r[${bar}] ${text}${percent === 100 ? '\n' : ''}`)
    } else if (Date.now() - last >= lineEveryMs) {
      last = Date.now()
      process.stderr.write(`${text}\n`)
    }
  }
}
