import { readFileSync } from 'node:fs'
import { ConfigError } from '../../platform/config.ts'

/** A table of measurements: each row has its name, then a cell for each column. */
export type FigureTable = { title: string; columns: string[]; rows: (string | number)[][] }
/** What a bench measured last, and on which machine. */
export type Measured = { date: string; machine: string; tables: FigureTable[] }
export type Figures = Record<string, Measured>

/** The benches write this file; it is in every checkout, and the Dockerfile copies it into the image. */
const file = new URL('../../../../bench/figures.json', import.meta.url)

export function readFigures(): Figures {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Figures
  } catch (error) {
    throw new ConfigError(
      `The measured figures can't be read: ${(error as Error).message}. Restore bench/figures.json from this release.`,
    )
  }
}

/** The cell of a bench in the row and column with these names, in the first table that has both (and a title that begins so). */
export function findFigure(figures: Figures, bench: string, row: string, column: string, title = ''): string {
  for (const { title: found, columns, rows } of figures[bench]?.tables ?? []) {
    if (!found.startsWith(title)) continue
    const index = columns.indexOf(column)
    const cell = index === -1 ? undefined : rows.find(([name]) => name === row)?.[index + 1]
    if (cell !== undefined) return String(cell)
  }
  throw new ConfigError(`figures.json has no ${column} of ${row} in ${bench}. Run: npm run bench:${bench} -- --keep`)
}
