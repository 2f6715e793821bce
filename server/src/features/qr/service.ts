import { createHash } from 'node:crypto'
import type { QrQuery } from '@tributary/contract/qr'
import type { Config } from '../../platform/config.ts'
import { openAsyncMemo } from '../../platform/memo.ts'
import { encodeText, type Level, logoArea, withoutMiddle } from './code.ts'
import { type Color, readableColors } from './color.ts'
import { gate, lanes } from './gate.ts'
import { fitLogo, moduleEdges } from './layout.ts'
import { type LoadedLogo, openLogos } from './logo.ts'
import { drawPng } from './png.ts'
import { drawSvg } from './svg.ts'

export type Format = 'png' | 'svg'
/** A drawn QR code and the hash of its bytes, for the `ETag` header. */
export type Picture = { bytes: Buffer<ArrayBuffer>; hash: string }
export type QrCodes = {
  /** Draws a QR code; drawing time is limited per `visitor`. */
  draw(query: QrQuery, format: Format, visitor: string): Promise<Picture>
}

type Drawing = {
  format: Format
  text: string
  level: Level
  size: number
  margin: number
  foreground: Color
  background: Color
}

// Drawing a QR code of 2,000 × 2,000 pixels takes some 25 MB.
const drawnAtOnce = 2

export function openQrCodes(config: Config): QrCodes {
  const loadLogo = openLogos(config)
  const drawing = gate(drawnAtOnce, 200)
  const drawLanes = lanes({ atOnce: 1, mostWaiting: 50, pauseFactor: 3, longestPauseMs: 2_000 })
  const pictures = openAsyncMemo<Picture>({ maxBytes: 32 * 1_048_576, measure: ({ bytes }) => bytes.length })
  return {
    async draw(query, format, visitor) {
      const [foreground, background] = readableColors(query.fgColor, query.bgColor)
      const logo = query.logo && !query.hideLogo ? await loadLogo(query.logo, visitor) : undefined
      const margin = query.includeMargin ? query.margin : 0
      const level = logo ? 'H' : query.level
      const options = { format, text: query.url, level, size: query.size, margin, foreground, background }
      const draw = () => drawLanes(visitor, () => drawing(() => drawn(options, logo)))
      return pictures(hashContent(JSON.stringify([options, logo?.hash])), draw)
    },
  }
}

async function drawn({ format, text, level, margin, ...drawing }: Drawing, logo?: LoadedLogo): Promise<Picture> {
  const whole = encodeText(text, level, logo !== undefined)
  const code = logo ? withoutMiddle(whole) : whole
  // In an SVG, one unit is one QR module.
  const size = format === 'svg' ? code.length + 2 * margin : drawing.size
  const edges = moduleEdges(code.length, margin, size)
  const boxedLogo = logo && { ...logo, box: fitLogo(edges, logoArea(code), logo.pixels) }
  const draw = format === 'svg' ? drawSvg : drawPng
  const bytes = await draw({ ...drawing, code, edges, margin }, boxedLogo)
  return { bytes, hash: hashContent(bytes) }
}

function hashContent(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url')
}
