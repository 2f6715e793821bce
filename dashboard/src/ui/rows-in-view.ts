import { useState, useSyncExternalStore } from 'react'

type View = { scrolled: number; viewHeight: number; rowHeight: number; count: number }

const extra = 6
/** So many rows come into the page at once: drawing costs more per time than per row. */
const step = 4

/** The indexes of the rows in view, and of a few on both sides; of the first few if none is in view yet. All rows have the same height. */
export function rowsInView({ scrolled, viewHeight, rowHeight, count }: View): number[] {
  const first = Math.max(0, Math.floor(scrolled / rowHeight) - extra)
  const end = Math.min(count, Math.max(0, Math.ceil((scrolled + viewHeight) / rowHeight)) + extra)
  return Array.from({ length: Math.max(0, end - first) }, (_, offset) => first + offset)
}

type Position = { scrolled: number; viewHeight: number }

/** The same while the page, or a part of it, is scrolled: draws again every few rows. `top` is where rows begin. */
export function useRowsInView(
  readPosition: () => Position,
  { rowHeight, count, top = 0 }: Pick<View, 'rowHeight' | 'count'> & { top?: number },
): number[] {
  const [position] = useState(() => createPositionStore(readPosition))
  const scrolledSteps = useSyncExternalStore(position.subscribe, () =>
    Math.floor((position.read().scrolled - top) / rowHeight / step),
  )
  const viewHeight = useSyncExternalStore(position.subscribe, () => position.read().viewHeight)
  const stepHeight = step * rowHeight
  return rowsInView({ scrolled: scrolledSteps * stepHeight, viewHeight: viewHeight + stepHeight, rowHeight, count })
}

/** Reads the position once per event: a read after a listener has drawn rows would lay out the page again. */
function createPositionStore(readPosition: () => Position) {
  let position = readPosition()
  let latest: Event | undefined
  return {
    read: () => position,
    subscribe(listener: () => void): () => void {
      const update = (event: Event) => {
        if (event !== latest) position = readPosition()
        latest = event
        listener()
      }
      // Scrolling of a part does not bubble, but is captured.
      const options = { capture: true, passive: true }
      addEventListener('scroll', update, options)
      addEventListener('resize', update)
      return () => {
        removeEventListener('scroll', update, options)
        removeEventListener('resize', update)
      }
    },
  }
}
