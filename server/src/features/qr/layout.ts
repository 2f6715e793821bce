import { invalid } from '../../platform/errors.ts'

// Below this module size in pixels, decoders begin to fail when modules differ in size (measured).
const leastUnequal = 8

/**
 * The pixel at which each QR module begins, and the end of the last module. Modules have equal size and leftover pixels
 * go to the margin. Only when the leftover exceeds a module and modules are large, module sizes differ by one pixel.
 */
export function moduleEdges(modules: number, margin: number, size: number): number[] {
  const whole = modules + 2 * margin
  const scale = Math.floor(size / whole)
  if (scale === 0) {
    throw invalid(`\`size\` in the query must be at least ${whole} for this content and margin, not ${size}.`)
  }
  const left = size - scale * whole
  const even = left <= scale || scale < leastUnequal
  return Array.from({ length: modules + 1 }, (_, at) =>
    even ? Math.floor(left / 2) + (margin + at) * scale : Math.round(((margin + at) * size) / whole),
  )
}

export type Box = { left: number; top: number; width: number; height: number }

/** The gap between the logo and the surrounding QR modules, in modules. */
const air = 0.4

/** The largest box with the logo's aspect ratio in the middle of these QR modules. */
export function fitLogo(
  edges: number[],
  modules: { from: number; to: number },
  picture: { width: number; height: number },
): Box {
  const [from = 0, to = 0] = [edges[modules.from], edges[modules.to]]
  const side = (to - from) * (1 - (2 * air) / (modules.to - modules.from))
  const scale = side / Math.max(picture.width, picture.height)
  const [width, height] = [picture.width * scale, picture.height * scale]
  return { left: (from + to - width) / 2, top: (from + to - height) / 2, width, height }
}
