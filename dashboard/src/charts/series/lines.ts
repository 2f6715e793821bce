import { area, curveMonotoneX, line } from 'd3-shape'
import type { Point, SeriesProps } from '../series.ts'
import type { Scales } from './scales.ts'

type Drawn = {
  line: string
  area: string
  /** From the last complete point to the one that is not complete yet. */
  partial: string
  comparison: string
}

/** The paths of a line, of the area between it and zero, and of the line it is compared with. */
export function drawLines(
  { points, comparison, partial = false }: Pick<SeriesProps, 'points' | 'comparison' | 'partial'>,
  { x, y }: Pick<Scales, 'x' | 'y'>,
): Drawn {
  const across = (_: Point, index: number) => x(index)
  const up = ({ value }: Point) => y(value)
  const lines = line<Point>(across, up).curve(curveMonotoneX).digits(1)
  const areas = area<Point>(across, y(0), up).curve(curveMonotoneX).digits(1)
  const isOpen = partial && points.length > 1
  const last = points.length - 1
  const complete = isOpen ? points.slice(0, last) : points
  const segment = isOpen ? points.slice(-2) : []
  const acrossSegment = (_: Point, index: number) => x(last - 1 + index)
  const segmentArea = area<Point>(acrossSegment, y(0), up).digits(1)(segment) ?? ''
  return {
    line: lines(complete) ?? '',
    area: (areas(complete) ?? '') + segmentArea,
    partial: line<Point>(acrossSegment, up).digits(1)(segment) ?? '',
    comparison: lines(comparison?.points ?? []) ?? '',
  }
}
