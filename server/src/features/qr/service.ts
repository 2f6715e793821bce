import { createHash } from 'node:crypto'
import type { QrQuery } from '@tributary/contract/qr'
import type { Config } from '../../platform/config.ts'
import { memoByObject, openAsyncMemo } from '../../platform/memo.ts'
import { contrast, isLighter, parseColor, readableColors } from './color.ts'
import type { DrawTask, Format as PictureFormat } from './draw.ts'
import { openDrawWorker } from './draw-worker.ts'
import { gate, lanes } from './gate.ts'
import { parseLabel } from './label.ts'
import { type LoadedLogo, openLogos } from './logo.ts'

export type Format = PictureFormat
/** A drawn QR code and the hash of its bytes, for the `ETag` header. */
export type Picture = { bytes: Buffer<ArrayBuffer>; hash: string }
export type QrCodes = {
  /** Draws a QR code; drawing time is limited per `visitor`. */
  draw(query: QrQuery, format: Format, visitor: string): Promise<Picture>
  /** Draws QR codes and decodes each, with a decoder that is independent of the drawing. */
  scan(queries: readonly QrQuery[], visitor: string): Promise<boolean[]>
}

// One thread draws; a QR code of 2,000 × 2,000 pixels takes some 25 MB.
const drawnAtOnce = 1

export function openQrCodes(config: Config): QrCodes {
  const loadLogo = openLogos(config)
  const worker = openDrawWorker()
  const drawing = gate(drawnAtOnce, 200)
  const drawLanes = lanes({ atOnce: 1, mostWaiting: 50, pauseFactor: 3, longestPauseMs: 2_000 })
  const pictures = openAsyncMemo<Picture>({ maxBytes: 8 * 1_048_576, measure: ({ bytes }) => bytes.length })
  const limited = <R>(visitor: string, work: () => Promise<R>) => drawLanes(visitor, () => drawing(work))

  async function prepare(query: QrQuery, format: Format, visitor: string): Promise<[DrawTask, LoadedLogo | undefined]> {
    const [foreground, background] = readableColors(query.fgColor, query.bgColor)
    const [marker] =
      query.markerColor === undefined ? [foreground] : readableColors(query.markerColor, query.bgColor, 'markerColor')
    const label = parseLabel(query.label ?? '', '`label` in the query')
    const logo = query.logo && !query.hideLogo ? await loadLogo(query.logo, visitor) : undefined
    const task = {
      ...{ format, text: query.url, level: logo ? ('H' as const) : query.level, size: query.size },
      ...{ margin: query.includeMargin ? query.margin : 0, foreground, background },
      style: { shape: query.shape, markerShape: query.markerShape, marker, label },
    }
    return [task, logo]
  }

  return {
    async draw(query, format, visitor) {
      const [task, logo] = await prepare(query, format, visitor)
      const draw = async () => {
        const bytes = await worker.draw({ ...task, ...(logo && { logo }) })
        return { bytes, hash: hashContent(bytes) }
      }
      return pictures(hashContent(JSON.stringify([task, logo?.hash])), () => limited(visitor, draw))
    },
    async scan(queries, visitor) {
      const tasks = await Promise.all(queries.map((query) => prepare(query, 'png', visitor)))
      return limited(visitor, async () => {
        const scanned: boolean[] = []
        for (const [task, logo] of tasks) scanned.push(await worker.scan({ ...task, ...(logo && { logo }) }))
        return scanned
      })
    },
  }
}

/** The codes of this process, which share its caches and its drawing thread. */
export const sharedQrCodes = memoByObject((config: Config) => openQrCodes(config))

/** The difference in brightness that scanners see, from -1 to 1; positive if the first colour is lighter. */
export function compareBrightness(one: string, other: string): number {
  const colors = [parseColor(one), parseColor(other)] as const
  return contrast(...colors) * (isLighter(...colors) ? 1 : -1)
}

function hashContent(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url')
}
