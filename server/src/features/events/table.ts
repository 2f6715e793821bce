import { quoteText } from '../../platform/csv.ts'

export type Cell = string | number | boolean | null | undefined | object

/** Formats a CSV line. */
export function csvLine(cells: Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  return quoteText(typeof cell === 'string' ? cell : JSON.stringify(cell))
}

/** Formats a JSON line by string concatenation, because building an object per line dominates the export time. */
export function jsonLine(names: string[], cells: Cell[]): string {
  let text = ''
  for (const [index, name] of names.entries()) {
    text += `${index === 0 ? '{' : ','}"${name}":${JSON.stringify(cells[index] ?? null)}`
  }
  return `${text}}\n`
}
