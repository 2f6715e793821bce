import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'
import type { Code } from './code.ts'
import type { Color } from './color.ts'
import type { Box } from './layout.ts'
import { type Pixels, resize } from './pixels.ts'

type Drawing = { code: Code; edges: number[]; size: number; foreground: Color; background: Color }
type Logo = { pixels: Pixels; box: Box }

/** Rows of pixels: of palette indexes, or of three bytes each. */
export type Canvas = { width: number; height: number; depth: number; data: Buffer }

/** Draws a QR code as PNG: with a palette of two colours or, with a logo, in true colour. */
export async function drawPng(drawing: Drawing, logo?: Logo): Promise<Buffer<ArrayBuffer>> {
  const { foreground, background } = drawing
  const canvas = logo ? drawCode(drawing, colorBytes(background), colorBytes(foreground)) : drawCode(drawing, [0], [1])
  if (!logo) return encodePng(canvas, Buffer.from([...colorBytes(background), ...colorBytes(foreground)]))
  drawLogo(canvas, logo, colorBytes(background))
  return encodePng(canvas)
}

/** Encodes pixels with this palette or, without one, in true colour. */
export async function encodePng(canvas: Canvas, palette?: Buffer): Promise<Buffer<ArrayBuffer>> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(canvas.width, 0)
  header.writeUInt32BE(canvas.height, 4)
  header.set([8, palette ? 3 : 2], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(palette ? [chunk('PLTE', palette)] : []),
    chunk('IDAT', await promisify(deflate)(filterLines(canvas))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

export function colorBytes({ red, green, blue }: Color): number[] {
  return [red, green, blue]
}

function drawCode({ code, edges, size }: Drawing, background: number[], foreground: number[]): Canvas {
  const depth = background.length
  const stride = size * depth
  const data = Buffer.alloc(stride * size, Buffer.from(background))
  const ink = Buffer.from(foreground)
  code.forEach((row, y) => {
    const [top = 0, bottom = 0] = edges.slice(y, y + 2)
    row.forEach((dark, x) => {
      if (dark) data.fill(ink, top * stride + (edges[x] ?? 0) * depth, top * stride + (edges[x + 1] ?? 0) * depth)
    })
    for (let line = top + 1; line < bottom; line++) data.copyWithin(line * stride, top * stride, (top + 1) * stride)
  })
  return { width: size, height: size, depth, data }
}

export function drawLogo(canvas: Canvas, { pixels, box }: Logo, background: number[]): void {
  const [left, top] = [Math.round(box.left), Math.round(box.top)]
  const { width, height, data } = resize(pixels, atLeastOne(box.width), atLeastOne(box.height))
  for (let at = 0; at < width * height; at++) {
    const target = ((top + Math.floor(at / width)) * canvas.width + left + (at % width)) * canvas.depth
    const alpha = (data[at * 4 + 3] ?? 0) / 255
    background.forEach((ground, channel) => {
      canvas.data[target + channel] = Math.round((data[at * 4 + channel] ?? 0) * alpha + ground * (1 - alpha))
    })
  }
}

/** Adds the PNG filter byte to each line: 0 for plain pixels, 2 when the line equals the line above. */
function filterLines({ width, height, depth, data }: Canvas): Buffer {
  const stride = width * depth
  const lines = Buffer.alloc((stride + 1) * height)
  for (let y = 0; y < height; y++) {
    const same = y > 0 && data.compare(data, (y - 1) * stride, y * stride, y * stride, (y + 1) * stride) === 0
    if (same) lines[y * (stride + 1)] = 2
    else data.copy(lines, y * (stride + 1) + 1, y * stride, (y + 1) * stride)
  }
  return lines
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

function atLeastOne(length: number): number {
  return Math.max(1, Math.round(length))
}
