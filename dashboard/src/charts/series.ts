import type { ReactNode } from 'react'

export type Point = { name: string; value: number }

/** What a chart over time shows, as a line or as bars. */
export type SeriesProps = {
  points: readonly Point[]
  /** What the values are, in a sentence with the total: read aloud instead of the picture. */
  description: string
  /** Headings of the table that screen readers get: of the names and of the values. */
  columns: readonly [ReactNode, ReactNode]
  format(value: number): string
  /** A short form for the axis. */
  formatTick(value: number): string
  /** Values of another period, compared by position; there may be fewer or more of them. */
  comparison?: { points: readonly Point[]; name: string }
  notes?: readonly { index: number; text: string }[]
  /** Called when a position is clicked, or chosen by Enter. */
  onChoose?(index: number): void
  /** Whether the last point is not complete yet. */
  partial?: boolean
  height?: number
  className?: string
}

/** How many positions the axis has. */
export function countPositions({ points, comparison }: Pick<SeriesProps, 'points' | 'comparison'>): number {
  return Math.max(points.length, comparison?.points.length ?? 0)
}

/** What is at a position: the values there, and the texts of its notes. */
export function readPosition(
  { points, comparison, notes = [], partial = false }: SeriesProps,
  index: number,
): { point?: Point; compared?: Point; texts: string[]; isPartial: boolean } {
  return {
    point: points[index],
    compared: comparison?.points[index],
    texts: notes.flatMap((note) => (note.index === index ? [note.text] : [])),
    isPartial: partial && index === points.length - 1,
  }
}

/** The position that a key leads to, as on a slider; undefined for other keys. */
export function moveIndex(key: string, index: number, count: number): number | undefined {
  const leap = Math.max(1, Math.round(count / 10))
  const targets: Record<string, number> = {
    ...{ ArrowLeft: index - 1, ArrowDown: index - 1, PageDown: index - leap, Home: 0 },
    ...{ ArrowRight: index + 1, ArrowUp: index + 1, PageUp: index + leap, End: count - 1 },
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target))
}
