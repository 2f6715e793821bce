import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { encodeText, type Level, logoArea, withoutMiddle } from './code.ts'
import type { Color } from './color.ts'
import type { Decoded } from './decode.ts'
import { fitLogo, moduleEdges } from './layout.ts'
import { drawPdf } from './pdf.ts'
import { drawPng } from './png.ts'
import { type Style, styleParts } from './styled.ts'
import { drawStyledPng } from './styled-png.ts'
import { drawStyledSvg } from './styled-svg.ts'
import { drawSvg } from './svg.ts'

export type Format = 'png' | 'svg' | 'pdf'
/** Everything that determines a picture; it can be sent to another thread. */
export type DrawTask = {
  format: Format
  text: string
  level: Level
  size: number
  margin: number
  foreground: Color
  background: Color
  style: Style
  logo?: Decoded
}

export async function drawCode(task: DrawTask): Promise<Buffer<ArrayBuffer>> {
  const { format, margin, logo, style, foreground, background } = task
  const whole = encodeText(task.text, task.level, logo !== undefined)
  const code = logo ? withoutMiddle(whole) : whole
  const modules = code.length + 2 * margin
  // In vectors, one unit is one QR module.
  const isBitmap = format === 'png'
  const edges = moduleEdges(code.length, margin, isBitmap ? task.size : modules)
  const boxedLogo = logo && { ...logo, box: fitLogo(edges, logoArea(code), logo.pixels) }
  if (format !== 'pdf' && isPlain(style, foreground)) {
    const drawing = { code, edges, margin, size: task.size, foreground, background }
    return isBitmap ? drawPng(drawing, boxedLogo) : drawSvg(drawing, boxedLogo)
  }
  const drawing = {
    ...{ parts: styleParts(code, margin, style), label: style.label, whole: modules, margin, edges, size: task.size },
    ...{ colors: { foreground, background, marker: style.marker }, logo: boxedLogo },
  }
  const draw = { png: drawStyledPng, svg: drawStyledSvg, pdf: drawPdf }[format]
  return draw(drawing)
}

function isPlain({ shape, markerShape, marker, label }: Style, foreground: Color): boolean {
  return shape === 'square' && markerShape === 'square' && marker.hex === foreground.hex && label === ''
}

const pixelsPerModule = 6
const [leastScanned, mostScanned] = [240, 1_000]
// The types of jsqr declare the function as `default`; in Node it is the module itself.
const decodeQr = jsqr as unknown as typeof jsqr.default

/** Whether a decoder that is independent of the drawing reads the text from the picture. */
export async function scanCode(task: DrawTask): Promise<boolean> {
  const { length } = encodeText(task.text, task.level, task.logo !== undefined)
  const size = Math.min(mostScanned, Math.max(leastScanned, (length + 2 * task.margin) * pixelsPerModule))
  const { data, width, height } = PNG.sync.read(await drawCode({ ...task, format: 'png', size }))
  return decodeQr(new Uint8ClampedArray(data), width, height)?.data === task.text
}
