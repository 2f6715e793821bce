import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { encode as encodeJpeg } from 'jpeg-js'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'
import { discFile, drawDisc } from '../../../test/scan.ts'
import { decodePicture, UnusablePicture } from './decode.ts'

const disc = discFile()
const jpeg = encodeJpeg({ width: 64, height: 48, data: Buffer.alloc(64 * 48 * 4, 0x80) }, 80).data

test('a PNG keeps its pixels', () => {
  const { pixels, png } = decodePicture(disc)
  expect(pixels).toMatchObject({ width: 120, height: 120 })
  expect(Buffer.from(pixels.data).equals(drawDisc().data)).toBe(true)
  expect(PNG.sync.read(Buffer.from(png)).data.equals(drawDisc().data)).toBe(true)
})

test('a JPEG keeps its pixels, and a large one is scaled down', () => {
  expect(decodePicture(jpeg).pixels).toMatchObject({ width: 64, height: 48 })
  expect(decodePicture(discFile(1_500, 750)).pixels).toMatchObject({ width: 512, height: 256 })
  expect(decodePicture(PNG.sync.write(new PNG({ width: 2_000, height: 1 }))).pixels).toMatchObject({
    width: 512,
    height: 1,
  })
})

test.each([
  ['colour type 0', { colorType: 0 }],
  ['colour type 2', { colorType: 2 }],
  ['colour type 4', { colorType: 4 }],
  ['16 bits', { bitDepth: 16 }],
] as const)('a PNG of %s is read', (_, options) => {
  const { pixels } = decodePicture(PNG.sync.write(drawDisc(40), options))
  expect(pixels).toMatchObject({ width: 40, height: 40 })
})

describe('a picture that is refused before decoding', () => {
  test.each([
    ['a PNG that is too wide', pngFile(2_001, 1, 1_000), 'is 2001 × 1 pixels large; at most 2000 × 2000 are allowed.'],
    ['a PNG of enormous size', pngFile(0xffff_ffff, 0xffff_ffff, 10), /at most 2000 × 2000/],
    ['a PNG of no size', pngFile(0, 5, 10), /at most 2000 × 2000/],
    ['a JPEG that is too high', jpegOfHeight(2_001), 'is 64 × 2001 pixels large; at most 2000 × 2000 are allowed.'],
    ['a GIF', Buffer.from('GIF89a…'), 'is neither PNG nor JPEG.'],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is neither PNG nor JPEG.'],
    ['a page', Buffer.from('<!doctype html>'), 'is neither PNG nor JPEG.'],
    ['nothing', Buffer.alloc(0), 'is neither PNG nor JPEG.'],
    ['a JPEG without a frame', jpeg.subarray(0, 20), 'is not a valid JPEG.'],
    ['a PNG without a header', disc.subarray(0, 8), 'is not a valid PNG.'],
    ['a PNG with two headers', withSecondHeader(), 'is not a valid PNG.'],
  ])('%s', (_, bytes, message) => {
    expect(() => decodePicture(bytes)).toThrow(UnusablePicture)
    expect(() => decodePicture(bytes)).toThrow(message)
  })

  test.each([0, 1])('a PNG that unpacks to far more than its size (interlace %i)', (interlace) => {
    const bomb = pngFile(100, 100, 300_000_000, interlace)
    expect(bomb.length).toBeLessThan(400_000)
    const [started, before] = [performance.now(), process.memoryUsage().arrayBuffers]
    expect(() => decodePicture(bomb)).toThrow(/larger than/)
    expect(performance.now() - started).toBeLessThan(3_000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000)
  })
})

test('damaged image files are an error, never a hang', () => {
  const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 255 })), {
    minLength: 1,
    maxLength: 8,
  })
  fc.assert(
    fc.property(fc.constantFrom(disc, jpeg), damage, fc.boolean(), (file, damage, cut) => {
      const bytes = Buffer.from(file)
      for (const [position, value] of damage) bytes[Math.floor(position * (bytes.length - 1))] = value
      const damaged = cut ? bytes.subarray(0, Math.floor((damage[0]?.[0] ?? 1) * bytes.length)) : bytes
      const started = performance.now()
      try {
        expect(decodePicture(damaged).pixels.data.length).toBeGreaterThan(0)
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
      expect(performance.now() - started).toBeLessThan(5_000)
    }),
    { numRuns: 500 },
  )
}, 180_000)

function pngFile(width: number, height: number, unpackedBytes: number, interlace = 0): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, interlace], 8)
  const data = deflateSync(Buffer.alloc(unpackedBytes))
  return Buffer.concat([
    disc.subarray(0, 8),
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function withSecondHeader(): Buffer {
  const large = Buffer.from(disc.subarray(16, 29))
  large.writeUInt32BE(60_000, 0)
  return Buffer.concat([disc.subarray(0, 33), chunk('IHDR', large), disc.subarray(33)])
}

/** A PNG chunk with a wrong checksum, because the file must be refused before the checksum is verified. */
function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)])
}

function jpegOfHeight(height: number): Buffer {
  const bytes = Buffer.from(jpeg)
  bytes.writeUInt16BE(height, bytes.indexOf(Buffer.from([0xff, 0xc0])) + 5)
  return bytes
}
