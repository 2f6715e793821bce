import type { CSSProperties, ReactNode } from 'react'

type Props = {
  /** Where it points at, from the left edge of the chart. */
  x: number
  /** From the top edge. */
  y?: number
  /** The width of the chart, which it stays within. */
  width: number
  children: ReactNode
}

const gap = 12

/** What is at the pointed position, beside it where there is more room. Screen readers get it otherwise. */
export function Tooltip({ x, y = 0, width, children }: Props) {
  const isRight = x * 2 < width
  const style: CSSProperties = { top: y, maxWidth: Math.min(280, Math.max(x, width - x) - gap) }
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute z-10 w-max rounded-md border border-line-strong bg-raised px-2 py-1 text-xs text-ink shadow-overlay"
      style={isRight ? { ...style, left: x + gap } : { ...style, right: width - x + gap }}
    >
      {children}
    </div>
  )
}
