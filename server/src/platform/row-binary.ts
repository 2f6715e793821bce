import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Writes values in ClickHouse's RowBinary format, one column after another, row by row. */
export type RowWriter = {
  /** How many bytes are written. */
  size(): number
  uint8(value: number): void
  /** A length or a count, in one to five bytes. */
  length(value: number): void
  string(text: string): void
  /** The bytes of a base64url text. Throws when there are more or fewer. */
  base64(text: string, bytes: number): void
  /** Numbers of 1, 2 or 4 bytes each. */
  numbers(list: Uint32Array, width: 1 | 2 | 4): void
  int64(value: number): void
  uint64(text: string): void
  uint16(value: number): void
  /** An IPv4 or IPv6 address; any other text becomes `::`. */
  ipv6(text: string): void
  /** The rows so far. The writer must not be used afterwards. */
  finish(): Buffer
}

const longestFixed = 16
const longestLength = 5
const mostBytesPerUnit = 3
const mostLooped = 24
const mostExactDigits = 15
// The last of five bytes of a length.
const largestScale = 128 ** 4

export function openRowWriter(bytes = 65_536): RowWriter {
  let buffer = Buffer.allocUnsafe(bytes)
  let at = 0

  function reserve(more: number): void {
    if (at + more <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, at + more))
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }

  function length(value: number): void {
    let left = value
    for (; left > 127; left >>>= 7) buffer[at++] = (left & 127) | 128
    buffer[at++] = left
  }

  return {
    length(value) {
      reserve(longestLength)
      length(value)
    },
    base64(text, bytes) {
      reserve(text.length)
      const written = buffer.write(text, at, 'base64url')
      if (written !== bytes) throw new RangeError(`"${text}" has ${written} bytes instead of ${bytes}`)
      at += written
    },
    numbers(list, width) {
      reserve(list.length * width)
      const written = width === 4 ? list : width === 2 ? Uint16Array.from(list) : Uint8Array.from(list)
      buffer.set(new Uint8Array(written.buffer, written.byteOffset, written.byteLength), at)
      at += written.byteLength
    },
    string(text) {
      const units = text.length
      reserve(longestLength + units * mostBytesPerUnit)
      if (units <= mostLooped && writeAscii(buffer, at + 1, text)) {
        buffer[at] = units
        at += 1 + units
        return
      }
      // Of short texts, the length takes one byte, whatever it is: the text can be written before its length is known.
      if (units * mostBytesPerUnit < 128) {
        const written = buffer.write(text, at + 1)
        buffer[at] = written
        at += 1 + written
        return
      }
      length(Buffer.byteLength(text))
      at += buffer.write(text, at)
    },
    size: () => at,
    uint8(value) {
      reserve(longestFixed)
      buffer[at++] = value
    },
    int64(value) {
      reserve(longestFixed)
      at = writeWhole(buffer, at, value)
    },
    uint64(text) {
      reserve(longestFixed)
      at =
        text.length <= mostExactDigits
          ? writeWhole(buffer, at, Number(text))
          : buffer.writeBigUInt64LE(BigInt(text), at)
    },
    uint16(value) {
      reserve(longestFixed)
      at = buffer.writeUInt16LE(value, at)
    },
    ipv6(text) {
      reserve(longestFixed)
      writeAddress(buffer, at, text)
      at += 16
    },
    finish: () => buffer.subarray(0, at),
  }
}

/** Writes a short ASCII text; false when it has another character. A native call would cost more than this loop. */
function writeAscii(buffer: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 127) return false
    buffer[at + index] = unit
  }
  return true
}

/** Writes an integer that a double has exactly, without a BigInt; returns the position after it. */
function writeWhole(buffer: Buffer, at: number, value: number): number {
  const after = buffer.writeUInt32LE(value >>> 0, at)
  return buffer.writeInt32LE(Math.floor(value / 4_294_967_296), after)
}

/** Reads what a `RowWriter` wrote. Throws when the bytes end too early. */
export type RowReader = {
  isAtEnd(): boolean
  string(): string
  int64(): number
}

export function openRowReader(data: Uint8Array, from = 0): RowReader {
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  let at = from

  function length(): number {
    for (let value = 0, scale = 1; scale <= largestScale; scale *= 128) {
      const byte = buffer.readUInt8(at++)
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new RangeError('The length of a text is not valid')
  }

  return {
    isAtEnd: () => at >= buffer.length,
    string() {
      const start = at
      const bytes = length()
      if (bytes === 0) return ''
      if (at + bytes > buffer.length) throw new RangeError(`The text at byte ${start} is incomplete`)
      at += bytes
      return buffer.toString('utf8', at - bytes, at)
    },
    int64() {
      const low = buffer.readUInt32LE(at)
      at += 8
      return buffer.readInt32LE(at - 4) * 4_294_967_296 + low
    },
  }
}

function writeAddress(buffer: Buffer, at: number, text: string): void {
  buffer.fill(0, at, at + 16)
  if (isIPv4(text)) {
    buffer[at + 10] = 255
    buffer[at + 11] = 255
    let [part, position] = [0, at + 12]
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit !== dot) {
        part = part * 10 + unit - zero
        continue
      }
      buffer[position++] = part
      part = 0
    }
    buffer[position] = part
  } else if (isIPv6(text)) {
    buffer.set(ipaddr.parse(text.replace(ipv4Tail, toGroups)).toByteArray(), at)
  }
}

const [dot, zero] = ['.', '0'].map((text) => text.charCodeAt(0)) as [number, number]
const ipv4Tail = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/

/** The IPv4 address at the end of an IPv6 address as two groups: ipaddr.js takes `::1.2.3.4` for `::ffff:1.2.3.4`. */
function toGroups(_: string, ...parts: string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
