import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readBasis } from '../server/src/maintenance/sizing/basis.ts'
import { calculateSizing } from '../server/src/maintenance/sizing/calculate.ts'
import { completeDemand } from '../server/src/maintenance/sizing/demand.ts'
import { type Figures, findFigure, readFigures } from '../server/src/maintenance/sizing/figures.ts'
import { formatBytes, shorten } from '../server/src/maintenance/sizing/quantity.ts'
import { table } from './table.ts'

const results = new URL('./RESULTS.md', import.meta.url)
const scaling = new URL('../docs/guides/scaling.md', import.meta.url)
const measuredBlock = /(<!-- from bench\/figures\.json, by npm run figures -->\n)[\s\S]*?(\n<!-- end -->)/

const kuttBlock = /(<!-- Kutt, from bench\/figures\.json -->\n)[\s\S]*?(\n<!-- end -->)/
const sizesBlock = /(<!-- sizes, from bench\/figures\.json -->\n)[\s\S]*?(\n<!-- end -->)/
const logBlock = /(<!-- log, from bench\/figures\.json -->\n)[\s\S]*?(\n<!-- end -->)/
/** A `tributary sizing` command, and the block after it with what it prints. */
const sizingBlocks = /(```sh\ntributary (sizing .+)\n```\n\n```\n)[\s\S]*?(\n```\n)/g
// 80 % of the 27/32 that clicks have of EVENT_LOG_MAX_MEGABYTES.
const logBytesAtWatermark = 13.0e9
const server = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))

/** `npm run figures`: writes the results of all benches from figures.json into bench/RESULTS.md and the scaling guide. */
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const { file, text } of renderAll(readFigures())) writeFileSync(file, text)

export function renderAll(figures: Figures): { file: URL; text: string }[] {
  const guide = readFileSync(scaling, 'utf8')
  return [
    { file: results, text: renderResults(figures) },
    {
      file: scaling,
      text: guide
        .replace(measuredBlock, (_, begin, end) => `${begin}${renderMeasured(figures)}${end}`)
        .replace(kuttBlock, (_, begin, end) => `${begin}${renderKutt(figures)}${end}`)
        .replace(sizesBlock, (_, begin, end) => `${begin}${renderSizes(figures)}${end}`)
        .replace(logBlock, (_, begin, end) => `${begin}${renderLog(figures)}${end}`)
        .replace(sizingBlocks, (_, begin, line, end) => `${begin}${runCommand(line)}${end}`),
    },
  ]
}

export function renderResults(figures: Figures): string {
  const sections = Object.entries(figures).map(([bench, { date, machine, tables }]) => {
    const texts = tables.map(({ title, columns, rows }) => table(title, columns, rows))
    return `## \`npm run bench:${bench}\`\n\n${date}, ${machine}\n\n${texts.join('\n\n')}\n`
  })
  return `# Results

What each bench measured last; \`npm run bench:<name> -- --keep\` measures again, \`npm run figures\` writes this page. Read them as proportions:
the machine is small, shared and noisy, and each figure has the bare engine of the same run beside it. What was measured and tried
before is in [HISTORY.md](HISTORY.md).

${sections.join('\n')}`
}

function renderMeasured(figures: Figures): string {
  const read = (bench: string, row: string, column: string) => findFigure(figures, bench, row, column)
  const redirect = (row: string) => {
    const cell = (column: string) => read('redirect', row, column)
    return `${cell('req/s')} a second, p50 ${cell('p50 ms')} ms, p99 ${cell('p99 ms')} ms`
  }
  const pipeline = (column: string) => read('pipeline', 'ack', column)
  const exactly = `${pipeline('answered')} answered, ${pipeline('counted')} counted, ${pipeline('rows')} rows`
  const measured = table(
    'What',
    ['Measured', 'Beside'],
    [
      [
        'redirects, every click on disk before the response',
        redirect('ack'),
        `${read('redirect', 'bare', 'req/s')} a second of a bare \`node:http\` that does nothing`,
      ],
      ['the same with `CLICK_DURABILITY=async`', redirect('async'), 'the same'],
      [
        'redirects of the default installation, whose worker stores the clicks meanwhile',
        redirect('default'),
        `${read('redirect', 'default', '× bare')} of the bare server's rate in the same rounds`,
      ],
      [
        'the same at a steady 1000 a second',
        redirect('default, 1000/s'),
        `p50 ${read('redirect', 'bare, 1000/s', 'p50 ms')} ms, p99 ${read('redirect', 'bare, 1000/s', 'p99 ms')} ms of the bare server`,
      ],
      [
        'log → ClickHouse with rollups and counters',
        `${read('ingest', 'log → steps → rows, rollups and counters', 'rows/s')} clicks a second`,
        `${read('ingest', 'bare insert of the same rows, 20000 at once, JSONEachRow', 'rows/s')} a second of a bare insert`,
      ],
      [
        `the full pipeline for 60 s at ${pipeline('clicks/s')} a second`,
        `${exactly}, p99 ${pipeline('p99 ms')} ms, never more than ${pipeline('maximum lag, s')} s behind`,
        'nothing lost, nothing doubled',
      ],
      [
        'newest 100 of 1000000 links',
        `p50 ${read('links', 'newest 100', 'p50 ms')} ms`,
        `${read('links', 'bare statement, newest 100', 'p50 ms')} ms of the bare statement`,
      ],
    ],
  )
  return `${measured}

These figures miss some targets of \`npm run bench\`: targets are goals, not promises.`
}

function renderKutt(figures: Figures): string {
  const tables = figures.peers?.tables ?? []
  return tables.map(({ title, columns, rows }) => table(title, columns, rows)).join('\n\n')
}

/** One line for each size, with as many links as clicks a day. */
function renderSizes(figures: Figures): string {
  const basis = readBasis(figures)
  const rows = [100_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000, 360_000_000].map((clicksPerDay) => {
    const demand = completeDemand({ clicksPerDay, links: clicksPerDay })
    const { peakClicksPerSecond, machines, disks } = calculateSizing(demand, basis)
    const parts = machines.map(
      ({ role, machines, cores, memoryGb }) => `${machines} × ${role} (${cores} cores, ${memoryGb} GB)`,
    )
    const stored = disks.filter(({ name }) => name === 'events' || name === 'rollups')
    const bytes = stored.reduce((sum, { bytesPerCopy }) => sum + bytesPerCopy, 0)
    const peak = `${shorten(Math.ceil(clicksPerDay / 86_400))} / ${shorten(peakClicksPerSecond)}`
    return [shorten(clicksPerDay), peak, parts.join('; '), formatBytes(bytes)]
  })
  return table('Clicks a day', ['Mean / peak a second', 'Machines', 'ClickHouse disk, one copy'], rows)
}

/** The days that clicks stay in a log of the shipped size. */
function renderLog(figures: Figures): string {
  const { value: bytes } = readBasis(figures).logBytes
  const rows = [100_000, 500_000, 1_000_000, 3_000_000, 10_000_000, 50_000_000].map((clicksPerDay) => {
    const days = Math.min(30, logBytesAtWatermark / (clicksPerDay * bytes))
    return [shorten(clicksPerDay), Number(days.toPrecision(2))]
  })
  return table('Clicks a day', [`Days in the log, ${bytes} bytes each`], rows)
}

function runCommand(line: string): string {
  return execFileSync(process.execPath, [server, ...line.split(' ')], { encoding: 'utf8' }).trimEnd()
}
