import { openRowWriter, type RowWriter } from './row-binary.ts'

/** The bytes of a column in ClickHouse's Native format, which ClickHouse reads without parsing rows. */
export type NativeColumn = { name: string; bytes: Buffer }
export type NativeBlock = { rows: number; columns: NativeColumn[] }

/** Encodes a column; `type` is its type in the table, so that ClickHouse converts nothing. */
export function encodeColumn(name: string, type: string, write: (writer: RowWriter) => void): NativeColumn {
  const writer = openRowWriter()
  writer.string(name)
  writer.string(type)
  write(writer)
  return { name, bytes: writer.finish() }
}

/** Encodes a column of type LowCardinality(String): each distinct text once, then a number for each row. */
export function encodeLowCardinality(name: string, texts: readonly string[]): NativeColumn {
  const { distinct, numbers } = number(texts)
  const width = findWidth(distinct.length)
  return encodeColumn(name, 'LowCardinality(String)', (writer) => {
    writer.int64(serializationVersion)
    writer.int64(hasKeys + needsUpdate + Math.log2(width))
    writer.int64(distinct.length)
    for (const text of distinct) writer.string(text)
    writer.int64(numbers.length)
    writer.numbers(numbers, width)
  })
}

/** The parts of a block, in the order in which ClickHouse reads them. */
export function blockParts({ rows, columns }: NativeBlock): Buffer[] {
  const head = openRowWriter(longestHead)
  head.length(columns.length)
  head.length(rows)
  return [head.finish(), ...columns.map(({ bytes }) => bytes)]
}

const longestHead = 10
// The layout of https://clickhouse.com/docs/interfaces/formats/Native: no dictionary that blocks share, keys of this block instead.
const serializationVersion = 1
const hasKeys = 512
const needsUpdate = 1_024

function findWidth(distinct: number): 1 | 2 | 4 {
  if (distinct <= 256) return 1
  return distinct <= 65_536 ? 2 : 4
}

function number(texts: readonly string[]): { distinct: string[]; numbers: Uint32Array } {
  const distinct: string[] = []
  const known = new Map<string, number>()
  const numbers = new Uint32Array(texts.length)
  let [last, lastNumber] = ['', -1]
  for (const [row, text] of texts.entries()) {
    if (lastNumber === -1 || text !== last) {
      const found = known.get(text)
      lastNumber = found ?? distinct.push(text) - 1
      if (found === undefined) known.set(text, lastNumber)
      last = text
    }
    numbers[row] = lastNumber
  }
  return { distinct, numbers }
}
