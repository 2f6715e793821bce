export type Cell = string | number | boolean | null | undefined | object

/** A line of a table for spreadsheets: what one would take for a formula gets a `'` before it. */
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

/** Written by hand: an object for each line would cost more than all the rest of it. */
export function jsonLine(names: string[], cells: Cell[]): string {
  let text = ''
  for (const [index, name] of names.entries()) {
    text += `${index === 0 ? '{' : ','}"${name}":${JSON.stringify(cells[index] ?? null)}`
  }
  return `${text}}\n`
}
