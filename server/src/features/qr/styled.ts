import type { Code } from './code.ts'
import type { Color } from './color.ts'
import type { Box } from './layout.ts'
import type { Pixels } from './pixels.ts'
import { type MarkerShape, type ModuleShape, markerShapes, moduleShapes, type RoundRect } from './shapes.ts'

export type Style = { shape: ModuleShape; markerShape: MarkerShape; marker: Color; label: string }
export type Colors = { foreground: Color; background: Color; marker: Color }
/** The shapes of a code, in modules and including its margin. */
type Parts = { modules: RoundRect[]; rings: RoundRect[]; holes: RoundRect[]; middles: RoundRect[] }

export type StyledDrawing = {
  parts: Parts
  label: string
  /** Modules of the code and its margins. */
  whole: number
  margin: number
  /** The first pixel of each module, and the end of the last one. */
  edges: number[]
  size: number
  colors: Colors
  logo?: { pixels: Pixels; png: Uint8Array; box: Box }
}

export function styleParts(code: Code, margin: number, { shape, markerShape }: Style): Parts {
  const moved = (rect: RoundRect) => ({ ...rect, x: rect.x + margin, y: rect.y + margin })
  const markers = markerShapes(code, markerShape)
  return {
    modules: moduleShapes(code, shape).map(moved),
    rings: markers.map(({ ring }) => moved(ring)),
    holes: markers.map(({ hole }) => moved(hole)),
    middles: markers.map(({ middle }) => moved(middle)),
  }
}
