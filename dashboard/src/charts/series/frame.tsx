import { useLingui } from '@lingui/react/macro'
import { type ComponentType, useMemo, useRef } from 'react'
import { countPositions, readPosition, type SeriesProps } from '../series.ts'
import { useWidth } from '../width.ts'
import { Axes } from './axes.tsx'
import { NoteLines, NoteRings } from './notes.tsx'
import { usePointing } from './pointing.ts'
import { type Frame, margin, type Scales, scaleValues } from './scales.ts'
import { SeriesTable } from './table.tsx'
import { SeriesTooltip } from './tooltip.tsx'

export type MarksProps = Pick<SeriesProps, 'points' | 'comparison' | 'partial'> & { scales: Scales }
type Props = {
  series: SeriesProps
  arrange(count: number, frame: Frame): Omit<Scales, 'y'>
  /** Draws the values. */
  Marks: ComponentType<MarksProps>
}

/** Axes, notes and the position that is pointed at, around the marks of a chart; and the same as a table for screen readers. */
export function SeriesFrame({ series, arrange, Marks }: Props) {
  const { points, comparison, partial, notes = [], formatTick, height = 200, className = '' } = series
  const { t } = useLingui()
  const figure = useRef<HTMLElement>(null)
  const width = useWidth(figure)
  const count = countPositions(series)
  const { scales, ticks, left } = useMemo(() => {
    const values = [...points, ...(comparison?.points ?? [])].map(({ value }) => value)
    const { y, ticks } = scaleValues(values, height)
    const longest = Math.max(0, ...ticks.map((tick) => formatTick(tick).length))
    const left = Math.max(28, longest * 7 + 10)
    return { scales: { ...arrange(count, { left, width, height }), y }, ticks, left }
  }, [points, comparison, formatTick, arrange, count, width, height])
  const { pointed, handlers } = usePointing({ count, indexAt: scales.indexAt, onChoose: series.onChoose })
  const position = Math.max(0, pointed ?? count - 1)
  const spoken = speak(series, position, t`not complete yet`)
  // Screen readers pass arrow keys on to a slider, and speak its value when it changes.
  const slider = {
    ...{ role: 'slider', tabIndex: 0, 'aria-valuemin': 0, 'aria-valuemax': count - 1, 'aria-valuenow': position },
    ...{ 'aria-valuetext': spoken, ...handlers },
  }
  const plot = { ...(count === 0 ? { role: 'img' } : slider), 'aria-label': series.description }
  const marked = { notes, x: scales.x, count, height }
  const cursor = series.onChoose ? 'cursor-pointer' : ''
  return (
    <figure ref={figure} className={`relative ${className}`}>
      <div {...plot} className={`touch-pan-y rounded-md ${cursor}`}>
        <svg aria-hidden width={width} height={height} className="block overflow-visible">
          <Axes points={points} scales={scales} ticks={ticks} left={left} width={width} {...{ height, formatTick }} />
          {pointed !== undefined && <Pointer scales={scales} index={pointed} height={height} />}
          <NoteLines {...marked} />
          <Marks points={points} comparison={comparison} partial={partial} scales={scales} />
          <NoteRings {...marked} />
          {pointed !== undefined && <PointedValues series={series} scales={scales} index={pointed} />}
        </svg>
      </div>
      {pointed !== undefined && <SeriesTooltip series={series} index={pointed} x={scales.x(pointed)} width={width} />}
      <SeriesTable series={series} />
    </figure>
  )
}

/** A position in words. */
function speak(series: SeriesProps, index: number, incomplete: string): string {
  const { point, compared, texts, isPartial } = readPosition(series, index)
  const own = point && `${point.name}: ${series.format(point.value)}${isPartial ? `, ${incomplete}` : ''}`
  const other = compared && `${series.comparison?.name}, ${compared.name}: ${series.format(compared.value)}`
  return [own, other, ...texts].filter(Boolean).join('; ')
}

type PointerProps = { scales: Scales; index: number; height: number }

function Pointer({ scales: { x, band }, index, height }: PointerProps) {
  const bottom = height - margin.bottom
  if (band > 0) {
    return (
      <rect x={x(index) - band / 2} width={band} y={margin.top} height={bottom - margin.top} className="fill-hover" />
    )
  }
  return <line x1={x(index)} x2={x(index)} y1={margin.top} y2={bottom} className="stroke-line-strong" />
}

function PointedValues({ series, scales, index }: { series: SeriesProps; scales: Scales; index: number }) {
  const { point, compared } = readPosition(series, index)
  if (scales.band > 0) return null
  const cx = scales.x(index)
  return (
    <>
      {compared && <circle cx={cx} cy={scales.y(compared.value)} r={3} className="fill-faint stroke-surface" />}
      {point && <circle cx={cx} cy={scales.y(point.value)} r={4} fill="currentColor" className="stroke-surface" />}
    </>
  )
}
