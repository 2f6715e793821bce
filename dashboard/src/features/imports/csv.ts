import { saveFile } from '../../ui/save-file.ts'

const delimiters = [',', ';', '\t', '|'] as const

/** Reads CSV as spreadsheets write it: quoted cells, either line end, and the delimiter that the first line uses most. */
export function parseCsv(text: string): string[][] {
  const source = text.replace(/^\uFEFF/, '')
  const delimiter = findDelimiter(source)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at] as string
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (source[at + 1] === '"') {
        cell += '"'
        at += 1
      } else isQuoted = false
    } else if (sign === '"' && cell === '') isQuoted = true
    else if (sign === delimiter) {
      row.push(cell)
      cell = ''
    } else if (sign === '\n' || sign === '\r') {
      if (sign === '\r' && source[at + 1] === '\n') at += 1
      rows.push([...row, cell])
      row = []
      cell = ''
    } else cell += sign
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell])
  return rows.map((cells) => cells.map(plainCell)).filter((cells) => cells.some((one) => one !== ''))
}

function findDelimiter(source: string): string {
  const head = source.slice(0, source.search(/[\r\n]|$/))
  const count = (delimiter: string) => head.split(delimiter).length
  return delimiters.reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** Takes back the signs with which exports keep a spreadsheet from running a text as a formula. */
function plainCell(cell: string): string {
  return cell.trim().replaceAll(/(?<=^|[;\t])'(?=[=+\-@＝＋－＠])/gu, '')
}

/**
 * Writes CSV. What a spreadsheet would run as a formula gets a leading `'`, also behind a semicolon or tab, at which some
 * split cells.
 */
export function formatCsv(rows: readonly (readonly string[])[]): string {
  const format = (cell: string) => {
    const harmless = cell.replaceAll(/(?<=^|[;\t])(?=[=+\-@\t\r\n＝＋－＠])/gu, "'")
    return /[",;\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
  }
  return rows.map((row) => `${row.map(format).join(',')}\r\n`).join('')
}

/** Offers a text as a file. */
export function saveCsv(name: string, text: string): void {
  saveFile(name, new Blob(['\uFEFF', text], { type: 'text/csv' }))
}
