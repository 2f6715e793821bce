import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { table } from './table.ts'

/** A table of measurements: each row has its name, then a cell for each column. */
export type FigureTable = { title: string; columns: string[]; rows: (string | number)[][] }
/** What a bench measured last, and on which machine. */
export type Measured = { date: string; machine: string; tables: FigureTable[] }
export type Figures = Record<string, Measured>

const file = new URL('./figures.json', import.meta.url)

export function readFigures(): Figures {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Figures) : {}
}

/** The command line's arguments, without flags such as `--keep`. */
export function readArguments(): string[] {
  return process.argv.slice(2).filter((text) => !text.startsWith('--'))
}

/** Prints measurements. With `--keep` on the command line, they replace what figures.json has of this bench. */
export function report(bench: string, ...tables: FigureTable[]): void {
  for (const { title, columns, rows } of tables) console.log(table(title, columns, rows))
  if (!process.argv.includes('--keep')) return
  const measured = { date: new Date().toISOString().slice(0, 10), machine: describeMachine(), tables }
  const figures = Object.entries({ ...readFigures(), [bench]: measured }).sort(([one], [other]) =>
    one < other ? -1 : 1,
  )
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(figures), null, 2)}\n`)
}

function describeMachine(): string {
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${memory} GiB, Node ${process.versions.node}`
}

/** The cell of a bench in the row and column with these names, in the first table that has both. */
export function findFigure(figures: Figures, bench: string, row: string, column: string): string {
  for (const { columns, rows } of figures[bench]?.tables ?? []) {
    const index = columns.indexOf(column)
    const found = index === -1 ? undefined : rows.find(([name]) => name === row)?.[index + 1]
    if (found !== undefined) return String(found)
  }
  throw new Error(`figures.json has no ${column} of ${row} in ${bench}. Run: npm run bench:${bench} -- --keep`)
}
