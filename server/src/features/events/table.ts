export type Cell = string | number | boolean | null | undefined | object

/** Formats a CSV line. A value that a spreadsheet would run as a formula gets a leading `'`. */
export function csvLine(cells: Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  const harmless = /^[=+\-@\t\r\n＝＋－＠]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** Formats a JSON line by string concatenation, because building an object per line dominates the export time. */
export function jsonLine(names: string[], cells: Cell[]): string {
  let text = ''
  for (const [index, name] of names.entries()) {
    text += `${index === 0 ? '{' : ','}"${name}":${JSON.stringify(cells[index] ?? null)}`
  }
  return `${text}}\n`
}
