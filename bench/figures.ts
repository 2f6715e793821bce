import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { type FigureTable, readFigures } from '../server/src/maintenance/sizing/figures.ts'
import { table } from './table.ts'

const file = new URL('./figures.json', import.meta.url)

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
