import { invalid } from '../../platform/errors.ts'

const longestLabel = 30
/** Height of the label in parts of the code's width. */
const barHeight = 0.18
const [glyphWidth, glyphHeight] = [5, 7]
const inkHeight = 0.5
const inkWidth = 0.9

/** A filled cell of the label's letters, in cells from its top left corner. */
type Cell = { column: number; row: number }

/** Seven rows of five bits for each character: letters look the same in every format and need no font. */
const glyphs: Readonly<Record<string, string>> = {
  ' ': '00000000000000',
  A: '0e11111f111111',
  B: '1e11111e11111e',
  C: '0e11101010110e',
  D: '1e11111111111e',
  E: '1f10101e10101f',
  F: '1f10101e101010',
  G: '0e11101711110f',
  H: '1111111f111111',
  I: '0e04040404040e',
  J: '0702020202120c',
  K: '11121418141211',
  L: '1010101010101f',
  M: '111b1515111111',
  N: '11191513111111',
  O: '0e11111111110e',
  P: '1e11111e101010',
  Q: '0e11111115120d',
  R: '1e11111e141211',
  S: '0f10100e01011e',
  T: '1f040404040404',
  U: '1111111111110e',
  V: '11111111110a04',
  W: '11111115151b11',
  X: '11110a040a1111',
  Y: '11110a04040404',
  Z: '1f01020408101f',
  Ä: '0a000e111f1111',
  Ö: '0a000e1111110e',
  Ü: '0a00111111110e',
  0: '0e11131519110e',
  1: '040c040404040e',
  2: '0e11010608101f',
  3: '1e01010e01011e',
  4: '02060a121f0202',
  5: '1f101e0101110e',
  6: '0608101e11110e',
  7: '1f010204080808',
  8: '0e11110e11110e',
  9: '0e11110f01020c',
  '.': '00000000000c0c',
  ',': '000000000c0408',
  ':': '000c0c000c0c00',
  '!': '04040404040004',
  '?': '0e110102040004',
  '-': '0000001f000000',
  '+': '0004041f040400',
  '&': '0c12140815120d',
  '/': '01010204081010',
  '@': '0e11171517100e',
  '#': '0a0a1f0a1f0a0a',
  '%': '18190204081303',
  "'": '04040800000000',
  '(': '02040808080402',
  ')': '08040202020408',
  '€': '07081e081e0807',
}

/** Normalizes the text below a code: one line in capitals. Throws 422 for characters without a glyph. */
export function parseLabel(text: string, name: string): string {
  const label = text.normalize('NFC').toUpperCase().trim().replaceAll(/\s+/g, ' ')
  if (label.length > longestLabel) {
    throw invalid(`${name} has ${label.length} characters, but at most ${longestLabel} fit below a QR code.`)
  }
  const unknown = [...label].find((character) => glyphs[character] === undefined)
  if (unknown === undefined) return label
  throw invalid(
    `${name} has the character ${JSON.stringify(unknown)}, which can't be drawn. Use letters A to Z, Ä, Ö, Ü, digits, spaces and . , : ! ? - + & / @ # % ' ( ) €.`,
  )
}

/** Where the label is, in the unit of `width`: a bar below the code, and cells of its letters. */
export type LabelLayout = { barHeight: number; cell: number; left: number; top: number; cells: Cell[] }

/** Lays out the label of a code of this width; `toUnit` rounds lengths, to whole pixels for a bitmap. */
export function layOutLabel(label: string, width: number, toUnit = (length: number) => length): LabelLayout {
  const columns = label.length * (glyphWidth + 1) - 1
  const height = toUnit(width * barHeight)
  const cell = toUnit(Math.min((height * inkHeight) / glyphHeight, (width * inkWidth) / columns))
  const left = toUnit((width - columns * cell) / 2)
  return { barHeight: height, cell, left, top: toUnit((height - glyphHeight * cell) / 2), cells: findCells(label) }
}

function findCells(label: string): Cell[] {
  return [...label].flatMap((character, index) => {
    const rows = Buffer.from(glyphs[character] ?? '', 'hex')
    return [...rows].flatMap((bits, row) =>
      Array.from({ length: glyphWidth }, (_, column) => column)
        .filter((column) => (bits >> (glyphWidth - 1 - column)) & 1)
        .map((column) => ({ column: index * (glyphWidth + 1) + column, row })),
    )
  })
}
