import { inflateSync } from 'node:zlib'
import { decode as decodeJpeg } from 'jpeg-js'
import { PNG } from 'pngjs'
import { type Pixels, resize } from './pixels.ts'

const mostPixels = 2_000
const maxPixels = 512

/** A logo can't be used; the message continues the sentence "the logo …". */
export class UnusablePicture extends Error {}

export type Decoded = { pixels: Pixels; png: Uint8Array }

/** Decodes a logo, a PNG or JPEG by its first bytes, and scales it down to at most 512 pixels. */
export function decodePicture(bytes: Buffer): Decoded {
  const pixels = reduced(findDecoder(bytes)(bytes))
  const picture = new PNG({ width: pixels.width, height: pixels.height })
  picture.data = Buffer.from(pixels.data)
  return { pixels, png: PNG.sync.write(picture) }
}

function findDecoder(bytes: Buffer): (bytes: Buffer) => Pixels {
  if (bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))) return decodePngFile
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return decodeJpegFile
  throw new UnusablePicture('is neither PNG nor JPEG.')
}

/** Decodes a PNG. Checks its dimensions and unpacked size first, because the decoder trusts them. */
function decodePngFile(bytes: Buffer): Pixels {
  const chunks = readChunks(bytes)
  const [header, ...others] = chunks.filter(({ type }) => type === 'IHDR')
  if (chunks[0] !== header || header?.data.length !== 13 || others.length > 0)
    throw new UnusablePicture('is not a valid PNG.')
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)]
  requireSize(width, height)
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  // A PNG pixel has at most eight bytes; an interlaced file has up to seven passes with extra bytes per line.
  inflateSync(packed, { maxOutputLength: width * height * 8 + height * 16 })
  const { data } = PNG.sync.read(bytes)
  return { width, height, data }
}

function readChunks(bytes: Buffer): { type: string; data: Buffer }[] {
  const chunks = []
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at)
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end) })
    at = end + 4
  }
  return chunks
}

function decodeJpegFile(bytes: Buffer): Pixels {
  const { width, height } = jpegSize(bytes)
  requireSize(width, height)
  const { data } = decodeJpeg(bytes, { useTArray: true, maxResolutionInMP: 4, maxMemoryUsageInMB: 256 })
  if (data.length !== width * height * 4) throw new UnusablePicture('is not a valid JPEG.')
  return { width, height, data }
}

/** Reads a JPEG's dimensions from its first frame header, which precedes the image data. */
function jpegSize(bytes: Buffer): { width: number; height: number } {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  throw new UnusablePicture('is not a valid JPEG.')
}

function requireSize(width: number, height: number): void {
  if (width >= 1 && height >= 1 && width <= mostPixels && height <= mostPixels) return
  throw new UnusablePicture(`is ${width} × ${height} pixels large; at most ${mostPixels} × ${mostPixels} are allowed.`)
}

function reduced(pixels: Pixels): Pixels {
  const scale = maxPixels / Math.max(pixels.width, pixels.height)
  if (scale >= 1) return { ...pixels, data: Uint8Array.from(pixels.data) }
  const smaller = (length: number) => Math.max(1, Math.round(length * scale))
  return resize(pixels, smaller(pixels.width), smaller(pixels.height))
}
