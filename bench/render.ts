import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type Figures, findFigure, readFigures } from './figures.ts'
import { table } from './table.ts'

const results = new URL('./RESULTS.md', import.meta.url)
const scaling = new URL('../docs/guides/scaling.md', import.meta.url)
const measuredBlock = /(<!-- from bench\/figures\.json, by npm run figures -->\n)[\s\S]*?(\n<!-- end -->)/

const kuttBlock = /(<!-- Kutt, from bench\/figures\.json -->\n)[\s\S]*?(\n<!-- end -->)/

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
        .replace(kuttBlock, (_, begin, end) => `${begin}${renderKutt(figures)}${end}`),
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
  return table(
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
}

function renderKutt(figures: Figures): string {
  const tables = figures.peers?.tables ?? []
  return tables.map(({ title, columns, rows }) => table(title, columns, rows)).join('\n\n')
}
