import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Writes values in ClickHouse's RowBinary format, one column after another, row by row. */
export type RowWriter = {
  string(text: string): void
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

export function openRowWriter(bytes = 1_048_576): RowWriter {
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
    string(text) {
      reserve(longestLength + text.length * mostBytesPerUnit)
      // Of short texts, the length takes one byte, whatever it is: the text can be written before its length is known.
      if (text.length * mostBytesPerUnit < 128) {
        const written = buffer.write(text, at + 1)
        buffer[at] = written
        at += 1 + written
        return
      }
      length(Buffer.byteLength(text))
      at += buffer.write(text, at)
    },
    int64(value) {
      reserve(longestFixed)
      at = buffer.writeBigInt64LE(BigInt(value), at)
    },
    uint64(text) {
      reserve(longestFixed)
      at = buffer.writeBigUInt64LE(BigInt(text), at)
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

function writeAddress(buffer: Buffer, at: number, text: string): void {
  buffer.fill(0, at, at + 16)
  if (isIPv4(text)) {
    buffer[at + 10] = 255
    buffer[at + 11] = 255
    for (const [index, part] of text.split('.').entries()) buffer[at + 12 + index] = Number(part)
  } else if (isIPv6(text)) {
    buffer.set(ipaddr.parse(text.replace(ipv4Tail, toGroups)).toByteArray(), at)
  }
}

const ipv4Tail = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/

/** The IPv4 address at the end of an IPv6 address as two groups: ipaddr.js takes `::1.2.3.4` for `::ffff:1.2.3.4`. */
function toGroups(_: string, ...parts: string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
