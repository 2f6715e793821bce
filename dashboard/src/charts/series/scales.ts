import { scaleLinear } from 'd3-scale'

/** The room of a chart in pixels; `left` is for the texts of the ticks. */
export type Frame = { left: number; width: number; height: number }

export const margin = { top: 8, right: 8, bottom: 22 }

export type Scales = {
  /** The middle of a position. */
  x(index: number): number
  y(value: number): number
  /** The width of a position whose values are bars; 0 for a line. */
  band: number
  /** The position at a distance from the left edge, also beside the axis. */
  indexAt(offset: number): number
}

/** The vertical scale: from zero, or below it, to a round number above the highest value; with ticks at whole numbers. */
export function scaleValues(values: readonly number[], height: number) {
  const least = Math.min(0, ...values)
  const most = Math.max(least < 0 ? 0 : 1, ...values)
  const y = scaleLinear([least, most], [height - margin.bottom, margin.top]).nice(3)
  return { y, ticks: y.ticks(3).filter(Number.isInteger) }
}

/** Positions of a line: the first and the last are at the edges, a single one is in the middle. */
export function arrangePoints(count: number, { left, width }: Frame): Omit<Scales, 'y'> {
  const room = Math.max(1, width - left - margin.right)
  const step = room / Math.max(1, count - 1)
  return {
    x: (index) => left + (count === 1 ? room / 2 : index * step),
    band: 0,
    indexAt: (offset) => clamp(Math.round((offset - left) / step), count),
  }
}

/** Positions of bars: each has a band of the same width. */
export function arrangeBands(count: number, { left, width }: Frame): Omit<Scales, 'y'> {
  const band = Math.max(1, width - left - margin.right) / Math.max(1, count)
  return {
    x: (index) => left + (index + 0.5) * band,
    band,
    indexAt: (offset) => clamp(Math.floor((offset - left) / band), count),
  }
}

/** Which of the points have their name below an axis of this length: the first and, as far as they fit, the last and those between. */
export function nameIndexes(count: number, length: number): number[] {
  if (count <= 1 || length < 100) return count > 0 ? [0] : []
  const fitting = Math.max(2, Math.min(count, Math.floor(length / 120)))
  const all = Array.from({ length: fitting }, (_, index) => Math.round((index * (count - 1)) / (fitting - 1)))
  return [...new Set(all)]
}

/** How a name is placed so that it stays within the axis. */
export function anchorName(index: number, count: number): 'start' | 'middle' | 'end' {
  if (count === 1) return 'middle'
  return index === 0 ? 'start' : index === count - 1 ? 'end' : 'middle'
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(count - 1, index))
}
