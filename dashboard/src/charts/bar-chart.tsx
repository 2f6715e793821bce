import { memo } from 'react'
import { drawBars } from './series/bars.ts'
import { type MarksProps, SeriesFrame } from './series/frame.tsx'
import { arrangeBands } from './series/scales.ts'
import type { SeriesProps } from './series.ts'

/** Bars over time with their axes, read as a line chart is. */
export function BarChart(series: SeriesProps) {
  return <SeriesFrame series={series} arrange={arrangeBands} Marks={BarMarks} />
}

const BarMarks = memo(function BarMarks({ points, comparison, partial, scales }: MarksProps) {
  const drawn = drawBars({ points, comparison, partial }, scales)
  return (
    <>
      <path d={drawn.comparison} className="fill-line-strong" fillOpacity={0.6} />
      <path d={drawn.bars} fill="currentColor" />
      <path d={drawn.partial} fill="currentColor" fillOpacity={0.2} stroke="currentColor" strokeDasharray="2 2" />
    </>
  )
})
