type Props = { values: readonly number[]; width?: number; height?: number; className?: string }

/** A small line without axes, from zero to its highest value; decoration beside the figure that it belongs to. */
export function Sparkline({ values, width = 84, height = 22, className = 'text-clicks' }: Props) {
  return (
    <svg aria-hidden width={width} height={height} viewBox={`0 0 ${width} ${height}`} className={className}>
      <path d={drawSparkline(values, width, height)} fill="none" stroke="currentColor" strokeWidth={1.5} />
    </svg>
  )
}

const inset = 2

/** The path of a sparkline. Without any value above zero it is a flat line at the bottom. */
export function drawSparkline(values: readonly number[], width: number, height: number): string {
  const most = Math.max(1, ...values)
  const step = (width - 2 * inset) / Math.max(1, values.length - 1)
  // Straight between its points: at this size a curve from d3-shape looks alike and costs the list 3 kB.
  const points = values.map((value, index) => {
    const y = height - inset - (Math.max(0, value) / most) * (height - 2 * inset)
    return `${round(inset + index * step)},${round(y)}`
  })
  return points.length === 0 ? '' : `M${points.join('L')}`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
