import type { Code } from './code.ts'
import type { Color } from './color.ts'
import type { Box } from './layout.ts'

type Drawing = { code: Code; margin: number; size: number; foreground: Color; background: Color }

/** Draws a QR code as SVG: one unit per module, and a single path for all dark modules. */
export function drawSvg(drawing: Drawing, logo?: { png: Uint8Array; box: Box }): Buffer<ArrayBuffer> {
  const { code, margin, size, foreground, background } = drawing
  const whole = code.length + 2 * margin
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${whole} ${whole}" role="img" aria-label="QR code">`,
    `<rect width="${whole}" height="${whole}" fill="${background.hex}"/>`,
    `<path fill="${foreground.hex}" shape-rendering="crispEdges" d="${drawPath(code, margin)}"/>`,
    logo ? logoImage(logo.png, logo.box) : '',
    '</svg>\n',
  ]
  return Buffer.from(parts.join(''))
}

function drawPath(code: Code, margin: number): string {
  return code
    .flatMap((row, y) => findRuns(row).map(([x, length]) => rectangle(x + margin, y + margin, length)))
    .join('')
}

function findRuns(row: boolean[]): [from: number, length: number][] {
  return row.flatMap((dark, from): [number, number][] => {
    if (!dark || row[from - 1]) return []
    const end = row.indexOf(false, from)
    return [[from, (end === -1 ? row.length : end) - from]]
  })
}

function rectangle(x: number, y: number, length: number): string {
  return `M${x} ${y}h${length}v1h-${length}z`
}

export function logoImage(png: Uint8Array, { left, top, width, height }: Box): string {
  const [x, y, w, h] = [left, top, width, height].map((value) => Number(value.toFixed(3)))
  const href = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
  return `<image x="${x}" y="${y}" width="${w}" height="${h}" href="${href}"/>`
}
