import type { SeriesProps } from '../series.ts'
import { margin, type Scales } from './scales.ts'

type Props = { notes: NonNullable<SeriesProps['notes']>; x: Scales['x']; count: number; height: number }

/** A dotted line at each position that has notes, behind the values. */
export function NoteLines({ notes, x, count, height }: Props) {
  return positions(notes, count).map((index) => (
    <line
      key={index}
      {...{ x1: x(index), x2: x(index), y1: margin.top, y2: height - margin.bottom }}
      strokeDasharray="2 3"
      className="stroke-line-strong"
    />
  ))
}

/** A ring on the axis at each position that has notes. */
export function NoteRings({ notes, x, count, height }: Props) {
  return positions(notes, count).map((index) => (
    <circle
      key={index}
      {...{ cx: x(index), cy: height - margin.bottom, r: 4 }}
      strokeWidth={1.5}
      className="fill-surface stroke-muted"
    />
  ))
}

function positions(notes: Props['notes'], count: number): number[] {
  const indexes = notes.map(({ index }) => index).filter((index) => index >= 0 && index < count)
  return [...new Set(indexes)]
}
