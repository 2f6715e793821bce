export type Chunk = { bytes: Buffer; rows: number }

const newline = 0x0a

/** Splits a stream into chunks of whole lines, about `size` bytes each. A line is one PostgreSQL or ClickHouse row. */
export async function* splitChunks(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Chunk> {
  let pieces: Buffer[] = []
  let length = 0
  for await (const piece of source) {
    pieces.push(piece)
    length += piece.length
    if (length < size) continue
    const whole = Buffer.concat(pieces, length)
    const end = whole.lastIndexOf(newline) + 1
    // Copy the rest, because a subarray would keep the whole buffer in memory.
    pieces = end < length ? [Buffer.from(whole.subarray(end))] : []
    length -= end
    if (end > 0) yield makeChunk(whole.subarray(0, end))
  }
  if (length > 0) yield makeChunk(Buffer.concat(pieces, length))
}

function makeChunk(bytes: Buffer): Chunk {
  let rows = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) rows += 1
  return { bytes, rows }
}
