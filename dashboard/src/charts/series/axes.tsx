import type { Point } from '../series.ts'
import { anchorName, margin, nameIndexes, type Scales } from './scales.ts'

type Props = {
  points: readonly Point[]
  scales: Scales
  ticks: readonly number[]
  formatTick(value: number): string
  left: number
  width: number
  height: number
}

/** Lines and texts of the values, and names of the points below. */
export function Axes({ points, scales: { x, y }, ticks, formatTick, left, width, height }: Props) {
  const length = points.length > 1 ? x(points.length - 1) - x(0) : 0
  const hasNegative = ticks.some((tick) => tick < 0)
  return (
    <g className="text-faint" fontSize={12} fill="currentColor">
      {ticks.map((tick) => (
        <g key={tick} transform={`translate(0,${y(tick)})`}>
          <line
            x1={left}
            x2={width - margin.right}
            className={hasNegative && tick === 0 ? 'stroke-line-strong' : 'stroke-line'}
          />
          <text x={left - 8} dy="0.32em" textAnchor="end">
            {formatTick(tick)}
          </text>
        </g>
      ))}
      {nameIndexes(points.length, length).map((index) => (
        <text key={index} x={x(index)} y={height - 4} textAnchor={anchorName(index, points.length)}>
          {points[index]?.name}
        </text>
      ))}
    </g>
  )
}
