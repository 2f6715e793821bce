import { invalid } from '../../platform/errors.ts'
import type { Color } from './color.ts'
import { type LabelLayout, layOutLabel } from './label.ts'
import { type Canvas, colorBytes, drawLogo, encodePng } from './png.ts'
import { isInside, type RoundRect } from './shapes.ts'
import type { StyledDrawing } from './styled.ts'

/** Steps from the background to a colour. The palette has two such ramps: of the code and of its markers. */
const steps = 127
const ramps = { code: 0, marker: steps + 1 }
const samples = 4

/** Draws a styled QR code as PNG with smooth edges. */
export async function drawStyledPng(drawing: StyledDrawing): Promise<Buffer<ArrayBuffer>> {
  const { parts, size, label, colors, logo } = drawing
  const layout = label === '' ? undefined : layOutLabel(label, size, Math.floor)
  if (layout && layout.cell < 1) {
    throw invalid(`\`size\` in the query must be larger for a label of ${label.length} characters, not ${size}.`)
  }
  const height = size + (layout?.barHeight ?? 0)
  const canvas: Canvas = { width: size, height, depth: 1, data: Buffer.alloc(size * height) }
  const masks = new Map<string, Uint8Array>()
  const paint = (shapes: RoundRect[], level: (covered: number) => number) => {
    for (const shape of shapes) paintShape(canvas, toPixels(shape, drawing), masks, level)
  }
  paint(parts.modules, (covered) => ramps.code + covered)
  paint(parts.rings, (covered) => ramps.marker + covered)
  paint(parts.holes, (covered) => ramps.marker + steps - covered)
  paint(parts.middles, (covered) => ramps.marker + covered)
  if (layout) paintLabel(canvas, layout, size)
  const palette = Buffer.from([
    ...rampColors(colors.background, colors.foreground),
    ...rampColors(colors.background, colors.marker),
  ])
  if (!logo) return encodePng(canvas, palette)
  const colored = toTrueColor(canvas, palette)
  drawLogo(colored, logo, colorBytes(colors.background))
  return encodePng(colored)
}

/** Moves a shape to pixels: whole modules keep their edges, so that all modules of a row touch. */
function toPixels({ x, y, width, height, radii }: RoundRect, { edges, margin }: StyledDrawing): RoundRect {
  const scale = (edges[1] ?? 0) - (edges[0] ?? 0)
  const at = (modules: number) => {
    const whole = Math.floor(modules - margin)
    const part = modules - margin - whole
    const [from = 0, to = from + scale] = [edges[whole], edges[whole + 1]]
    return from + part * (to - from)
  }
  const [left, top] = [at(x), at(y)]
  return {
    ...{ x: left, y: top, width: at(x + width) - left, height: at(y + height) - top },
    radii: radii.map((radius) => radius * scale) as RoundRect['radii'],
  }
}

/** Paints where the shape covers pixels; equal shapes share a mask. */
function paintShape(
  canvas: Canvas,
  shape: RoundRect,
  masks: Map<string, Uint8Array>,
  level: (covered: number) => number,
): void {
  const [left, top] = [Math.floor(shape.x), Math.floor(shape.y)]
  const [columns, rows] = [Math.ceil(shape.x + shape.width) - left, Math.ceil(shape.y + shape.height) - top]
  const inner = { ...shape, x: shape.x - left, y: shape.y - top }
  const name = JSON.stringify([inner.x, inner.y, inner.width, inner.height, inner.radii])
  const mask = masks.get(name) ?? coverage(inner, columns, rows)
  masks.set(name, mask)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const covered = mask[row * columns + column] as number
      if (covered > 0) canvas.data[(top + row) * canvas.width + left + column] = level(covered)
    }
  }
}

/** How much of each pixel a shape covers, from 0 to `steps`, by sampling 4 × 4 points. */
function coverage(shape: RoundRect, columns: number, rows: number): Uint8Array {
  const mask = new Uint8Array(columns * rows)
  for (let at = 0; at < mask.length; at++) {
    let inside = 0
    for (let sample = 0; sample < samples * samples; sample++) {
      const x = (at % columns) + ((sample % samples) + 0.5) / samples - shape.x
      const y = Math.floor(at / columns) + (Math.floor(sample / samples) + 0.5) / samples - shape.y
      if (x >= 0 && y >= 0 && x <= shape.width && y <= shape.height && isInside(shape, x, y)) inside += 1
    }
    mask[at] = Math.round((inside / (samples * samples)) * steps)
  }
  return mask
}

function paintLabel({ width, data }: Canvas, { barHeight, cell, left, top, cells }: LabelLayout, size: number): void {
  data.fill(ramps.code + steps, size * width, (size + barHeight) * width)
  for (const { column, row } of cells) {
    for (let line = 0; line < cell; line++) {
      const start = (size + top + row * cell + line) * width + left + column * cell
      data.fill(ramps.code, start, start + cell)
    }
  }
}

function rampColors(from: Color, to: Color): number[] {
  const [start, end] = [colorBytes(from), colorBytes(to)]
  return Array.from({ length: steps + 1 }, (_, step) =>
    start.map((value, channel) => Math.round(value + (((end[channel] ?? 0) - value) * step) / steps)),
  ).flat()
}

function toTrueColor({ width, height, data }: Canvas, palette: Buffer): Canvas {
  const colored = Buffer.alloc(width * height * 3)
  for (let at = 0; at < data.length; at++)
    palette.copy(colored, at * 3, (data[at] as number) * 3, (data[at] as number) * 3 + 3)
  return { width, height, depth: 3, data: colored }
}
