import { scaleLinear } from 'd3-scale'
import { area, curveMonotoneX, line } from 'd3-shape'
import { type PointerEvent, type ReactNode, useId, useRef, useState } from 'react'
import { useWidth } from './width.ts'

export type Point = { name: string; value: number }
type Props = {
  points: readonly Point[]
  /** What the values are, in a sentence with the total: read aloud instead of the picture. */
  description: string
  /** Headings of the table that screen readers get: of the names and of the values. */
  columns: readonly [ReactNode, ReactNode]
  format(value: number): string
  /** A short form for the axis. */
  formatTick(value: number): string
  height?: number
  className?: string
}

const margin = { top: 8, right: 8, bottom: 22, left: 48 }

/** A line over time with its axes. The pointer reads single values; screen readers get a table. */
export function LineChart({ points, description, columns, format, formatTick, height = 200, className = '' }: Props) {
  const frame = useRef<HTMLElement>(null)
  const width = useWidth(frame)
  const [pointed, setPointed] = useState<number>()
  const fill = useId()
  const { x, y, ticks, path, shape } = drawLine(points, width, height)
  const shown = pointed === undefined ? undefined : points[pointed]
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const offset = event.clientX - event.currentTarget.getBoundingClientRect().left
    setPointed(nearestIndex(offset, width, points.length))
  }
  return (
    <figure ref={frame} className={`relative ${className}`}>
      <svg
        role="img"
        aria-label={description}
        width={width}
        height={height}
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
        className="block overflow-visible"
      >
        <linearGradient id={fill} x1="0" x2="0" y1="0" y2="1">
          <stop offset="0" stopColor="currentColor" stopOpacity={0.16} />
          <stop offset="1" stopColor="currentColor" stopOpacity={0} />
        </linearGradient>
        <g aria-hidden className="text-faint" fontSize={12} fill="currentColor">
          {ticks.map((tick) => (
            <g key={tick} transform={`translate(0,${y(tick)})`}>
              <line x1={margin.left} x2={width - margin.right} className="stroke-line" />
              <text x={margin.left - 8} dy="0.32em" textAnchor="end">
                {formatTick(tick)}
              </text>
            </g>
          ))}
          {nameIndexes(points.length, width).map((index) => (
            <text key={index} x={x(index)} y={height - 4} textAnchor={anchor(index, points.length)}>
              {points[index]?.name}
            </text>
          ))}
        </g>
        <path d={shape} fill={`url(#${fill})`} />
        <path d={path} fill="none" stroke="currentColor" strokeWidth={1.75} strokeLinejoin="round" />
        {shown && pointed !== undefined && (
          <>
            <line x1={x(pointed)} x2={x(pointed)} y1={margin.top} y2={y(0)} className="stroke-line-strong" />
            <circle cx={x(pointed)} cy={y(shown.value)} r={3.5} fill="currentColor" className="stroke-surface" />
          </>
        )}
      </svg>
      {shown && pointed !== undefined && (
        <div
          aria-hidden
          className="pointer-events-none absolute top-0 rounded-md border border-line-strong bg-raised px-2 py-1 text-xs whitespace-nowrap text-ink shadow-overlay"
          style={pointed * 2 < points.length ? { left: x(pointed) + 10 } : { right: width - x(pointed) + 10 }}
        >
          <span className="text-muted">{shown.name}</span> {format(shown.value)}
        </div>
      )}
      <table className="sr-only">
        <caption>{description}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: there are two
              <th key={index} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{format(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** Scales and paths of a line from zero to a round number above its highest value. */
export function drawLine(points: readonly Point[], width: number, height: number) {
  const most = Math.max(1, ...points.map(({ value }) => value))
  const y = scaleLinear([0, most], [height - margin.bottom, margin.top]).nice(3)
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [margin.left, width - margin.right])
  const across = (_: Point, index: number) => x(index)
  const up = ({ value }: Point) => y(Math.max(0, value))
  return {
    x,
    y,
    ticks: y.ticks(3).filter(Number.isInteger),
    path: line<Point>(across, up).curve(curveMonotoneX).digits(1)(points) ?? '',
    shape: area<Point>(across, y(0), up).curve(curveMonotoneX).digits(1)(points) ?? '',
  }
}

export function nearestIndex(offset: number, width: number, count: number): number {
  const share = (offset - margin.left) / Math.max(1, width - margin.left - margin.right)
  return Math.min(count - 1, Math.max(0, Math.round(share * (count - 1))))
}

/** Which points have their name below the axis: the first, the last, and as many between as fit. */
export function nameIndexes(count: number, width: number): number[] {
  if (count === 0) return []
  const fitting = Math.max(2, Math.min(count, Math.floor(width / 130)))
  const all = Array.from({ length: fitting }, (_, index) => Math.round((index * (count - 1)) / (fitting - 1)))
  return [...new Set(all)]
}

function anchor(index: number, count: number): 'start' | 'middle' | 'end' {
  return index === 0 ? 'start' : index === count - 1 ? 'end' : 'middle'
}
