import type { Counts } from './count.ts'
import type { Tally } from './load.ts'

/** Result of one fault: a line of the table. */
export type Line = {
  fault: string
  sent: number
  answered: number
  rows: number
  counters: number
  lost: number
  doubled: number
  worstMs: number
  failures: number
  repeats: number
  bots: number
  /** Empty if every click is stored and counted. */
  problems: string[]
}

type Measured = { tally: Tally; before: Counts; after: Counts }

/** Compares answered visits with stored clicks; `mayLose` if NATS and spool were both down. */
export function buildLine(fault: string, { tally, before, after }: Measured, mayLose: boolean): Line {
  const rows = after.rows - before.rows
  const doubled = after.doubled - before.doubled
  const counted = after.counted - before.counted
  const admitted = [...after.lost].reduce((sum, [pid, lost]) => sum + lost - (before.lost.get(pid) ?? 0), 0)
  const failures = [...tally.failures.values()].reduce((sum, count) => sum + count, 0)
  const lost = tally.answered - (rows - doubled)
  const problems: string[] = []
  const expect = (what: string, found: number, expected: number) => {
    if (found !== expected) problems.push(`${what}: ${found}, expected ${expected}`)
  }
  for (const [message, count] of tally.failures) problems.push(`${count} visits failed: ${message}`)
  const twice = after.storedTwice - before.storedTwice
  if (doubled !== 0)
    problems.push(`doubled: ${doubled}, of which ${twice} are the same visit and the others repeat visits`)
  expect('counters', counted, rows)
  if (mayLose) {
    const lostBots = sumCounts(tally.bots) + sumCounts(before.bots) - sumCounts(after.bots)
    expect('tributary_clicks_lost_total', admitted, lost + lostBots)
  } else {
    expect('lost', lost, 0)
    expect('tributary_clicks_lost_total', admitted, 0)
    for (const [id, answered] of tally.byLink) {
      expect(`counter of ${id}`, (after.counters.get(id) ?? 0) - (before.counters.get(id) ?? 0), answered)
    }
    for (const [reason, sent] of Object.entries(tally.bots)) {
      expect(`rows of bots (${reason})`, (after.bots[reason] ?? 0) - (before.bots[reason] ?? 0), sent)
    }
  }
  const { sent, answered, worstMs, repeats } = tally
  return {
    fault,
    sent,
    answered,
    rows,
    counters: counted,
    lost,
    doubled,
    worstMs,
    failures,
    repeats,
    bots: sumCounts(tally.bots),
    problems,
  }
}

const columns: [string, (line: Line) => string | number][] = [
  ['fault', ({ fault }) => fault],
  ['sent', ({ sent }) => sent],
  ['answered', ({ answered }) => answered],
  ['rows', ({ rows }) => rows],
  ['counters', ({ counters }) => counters],
  ['lost', ({ lost }) => lost],
  ['doubled', ({ doubled }) => doubled],
  ['worst redirect ms', ({ worstMs }) => Math.round(worstMs)],
  ['redirect failures', ({ failures }) => failures],
  ['repeats', ({ repeats }) => repeats],
  ['bots', ({ bots }) => bots],
]

/** Formats results as a Markdown table, for the guide. */
export function formatTable(lines: Line[]): string {
  return formatRows([
    columns.map(([name]) => name),
    ...lines.map((line) => columns.map(([, cell]) => String(cell(line)))),
  ])
}

/** Formats a Markdown table; the first row has the names of the columns. */
export function formatRows(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const texts = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  texts.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
  return texts.join('\n')
}

function sumCounts(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
