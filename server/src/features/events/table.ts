export type Cell = string | number | boolean | null | undefined | object

/** A CSV line; a value that a spreadsheet would run as a formula gets a leading `'`. */
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

/** Concatenated, because an object per line would cost more than all other work. */
export function jsonLine(names: string[], cells: Cell[]): string {
  let text = ''
  for (const [index, name] of names.entries()) {
    text += `${index === 0 ? '{' : ','}"${name}":${JSON.stringify(cells[index] ?? null)}`
  }
  return `${text}}\n`
}
