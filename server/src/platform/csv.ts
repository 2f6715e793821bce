type Cell = string | number | null

/** Formats a CSV line. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  return quoteText(cell)
}

/**
 * Formats a text as a CSV cell. What a spreadsheet would run as a formula gets a leading `'`, also behind a semicolon or
 * tab, at which some split cells.
 */
export function quoteText(text: string): string {
  const harmless = text.replaceAll(/(?<=^|[;\t])(?=[=+\-@\t\r\n＝＋－＠])/gu, "'")
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
