import type { Point, SeriesProps } from '../series.ts'
import type { Scales } from './scales.ts'

type Drawn = {
  bars: string
  /** The last bar when it is not complete yet. */
  partial: string
  /** Wider bars behind. */
  comparison: string
}

const widest = { bar: 40, comparison: 56 }

/** The paths of bars that begin at zero, and of those they are compared with. */
export function drawBars(
  { points, comparison, partial = false }: Pick<SeriesProps, 'points' | 'comparison' | 'partial'>,
  scales: Pick<Scales, 'x' | 'y' | 'band'>,
): Drawn {
  const { band } = scales
  const behind = Math.min(widest.comparison, Math.max(1, band * 0.84))
  const front = comparison ? behind * 0.6 : Math.min(widest.bar, Math.max(1, band * 0.7))
  const complete = partial ? points.length - 1 : points.length
  const draw = (shown: readonly Point[], width: number, first = 0) =>
    shown.map(({ value }, index) => drawBar(first + index, value, width, scales)).join('')
  return {
    bars: draw(points.slice(0, complete), front),
    partial: draw(points.slice(complete), front, complete),
    comparison: draw(comparison?.points ?? [], behind),
  }
}

/** One bar, rounded at the end that is away from zero. */
function drawBar(index: number, value: number, width: number, { x, y }: Pick<Scales, 'x' | 'y'>): string {
  if (value === 0) return ''
  const height = y(value) - y(0)
  const corner = round(Math.min(2, width / 3, Math.abs(height)))
  const turn = Math.sign(height) * corner
  const side = round(height) - turn
  return [
    `M${round(x(index) - width / 2)},${round(y(0))}v${round(side)}`,
    `q0,${turn},${corner},${turn}h${round(width - 2 * corner)}q${corner},0,${corner},${-turn}v${round(-side)}z`,
  ].join('')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
