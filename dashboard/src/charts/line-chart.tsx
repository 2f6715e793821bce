import { memo, useId } from 'react'
import { type MarksProps, SeriesFrame } from './series/frame.tsx'
import { drawLines } from './series/lines.ts'
import { arrangePoints } from './series/scales.ts'
import type { SeriesProps } from './series.ts'

/** A line over time with its axes. Pointer and keys read single values; screen readers get a table. */
export function LineChart(series: SeriesProps) {
  return <SeriesFrame series={series} arrange={arrangePoints} Marks={LineMarks} />
}

const LineMarks = memo(function LineMarks({ points, comparison, partial, scales }: MarksProps) {
  const fill = useId()
  const drawn = drawLines({ points, comparison, partial }, scales)
  const [first] = points
  return (
    <>
      <linearGradient id={fill} x1="0" x2="0" y1="0" y2="1">
        <stop offset="0" stopColor="currentColor" stopOpacity={0.18} />
        <stop offset="1" stopColor="currentColor" stopOpacity={0} />
      </linearGradient>
      <path d={drawn.area} fill={`url(#${fill})`} />
      <path d={drawn.comparison} fill="none" strokeWidth={1.25} strokeDasharray="3 4" className="stroke-faint" />
      <g fill="none" stroke="currentColor" strokeWidth={1.75} strokeLinejoin="round" strokeLinecap="round">
        <path d={drawn.line} />
        <path d={drawn.partial} strokeDasharray="0.1 4.5" strokeWidth={2} />
        {points.length === 1 && first && (
          <circle
            cx={scales.x(0)}
            cy={scales.y(first.value)}
            r={3.5}
            strokeDasharray={partial ? '0.1 3.2' : undefined}
            fill={partial ? 'none' : 'currentColor'}
          />
        )}
      </g>
    </>
  )
})
