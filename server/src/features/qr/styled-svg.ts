import type { LabelLayout } from './label.ts'
import { layOutLabel } from './label.ts'
import type { RoundRect } from './shapes.ts'
import type { StyledDrawing } from './styled.ts'
import { logoImage } from './svg.ts'

/** Draws a styled QR code as SVG: one unit per module. */
export function drawStyledSvg({ parts, label, whole, size, colors, logo }: StyledDrawing): Buffer<ArrayBuffer> {
  const layout = label === '' ? undefined : layOutLabel(label, whole)
  const height = whole + (layout?.barHeight ?? 0)
  const path = (shapes: RoundRect[], { hex }: { hex: string }) =>
    `<path fill="${hex}" d="${shapes.map(roundRectPath).join('')}"/>`
  const drawn = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${round((size * height) / whole)}" viewBox="0 0 ${whole} ${round(height)}" role="img" aria-label="QR code">`,
    `<rect width="${whole}" height="${round(height)}" fill="${colors.background.hex}"/>`,
    path(parts.modules, colors.foreground),
    path(parts.rings, colors.marker),
    path(parts.holes, colors.background),
    path(parts.middles, colors.marker),
    layout ? drawLabel(layout, whole, colors) : '',
    logo ? logoImage(logo.png, logo.box) : '',
    '</svg>\n',
  ]
  return Buffer.from(drawn.join(''))
}

function drawLabel(layout: LabelLayout, whole: number, { foreground, background }: StyledDrawing['colors']): string {
  const { barHeight, cell, left, top, cells } = layout
  const side = round(cell)
  const letters = cells.map(
    ({ column, row }) => `M${round(left + column * cell)} ${round(whole + top + row * cell)}h${side}v${side}h-${side}z`,
  )
  const bar = `<rect y="${whole}" width="${whole}" height="${round(barHeight)}" fill="${foreground.hex}"/>`
  return `${bar}<path fill="${background.hex}" shape-rendering="crispEdges" d="${letters.join('')}"/>`
}

function roundRectPath({ x, y, width, height, radii: [tl, tr, br, bl] }: RoundRect): string {
  const arc = (radius: number, dx: number, dy: number) =>
    radius === 0 ? '' : `a${round(radius)} ${round(radius)} 0 0 1 ${round(dx)} ${round(dy)}`
  return [
    `M${round(x + tl)} ${round(y)}h${round(width - tl - tr)}${arc(tr, tr, tr)}`,
    `v${round(height - tr - br)}${arc(br, -br, br)}h${round(-(width - br - bl))}`,
    `${arc(bl, -bl, -bl)}v${round(-(height - bl - tl))}${arc(tl, tl, -tl)}z`,
  ].join('')
}

function round(length: number): number {
  return Number(length.toFixed(3))
}
