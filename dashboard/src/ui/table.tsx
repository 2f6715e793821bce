import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useRowsInView } from './rows-in-view.ts'
import { useSmallScreen } from './small-screen.ts'
import { TableCards } from './table-cards.tsx'
import { TableRows } from './table-rows.tsx'
import type { ShownRow, TableProps } from './table-types.ts'

/**
 * A list of any length: a table on wide screens, cards on small ones. Only visible rows are in the page. Each has its own
 * place in a box of the list's height, so that a row that comes or goes moves no other.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { count, rowHeight, cardHeight, onRange } = props
  const isSmall = useSmallScreen()
  const body = useRef<HTMLDivElement>(null)
  const { top, width } = useBox(body)
  const height = isSmall ? cardHeight : rowHeight
  // Rows drawn before the width is known would be drawn twice.
  const indexes = useRowsInView(readWindow, { rowHeight: height, count: width === 0 ? 0 : count, top })
  const [first = 0, last = first] = [indexes[0], indexes.at(-1)]
  useEffect(() => {
    if (width > 0) onRange?.(first, last)
  }, [width, first, last, onRange])
  const shown = listShown(indexes, props)
  return (
    <div ref={body} className={`transition-opacity ${props.isDimmed ? 'opacity-60' : ''}`} aria-busy={props.isDimmed}>
      {isSmall ? <TableCards {...props} shown={shown} /> : <TableRows {...props} shown={shown} width={width} />}
    </div>
  )
}

/** The visible rows. A row keeps its key while others come before it, so that an open menu stays with its row. */
function listShown<Row>(indexes: readonly number[], { row, rowId }: TableProps<Row>): ShownRow<Row>[] {
  const keys = new Set<string>()
  return indexes.map((index) => {
    const found = row(index)
    const id = found === undefined ? '' : rowId(found)
    const key = id === '' || keys.has(id) ? String(index) : id
    keys.add(key)
    return { key, index, row: found }
  })
}

/** Distance of an element from the top of the document, and its width. */
function useBox(element: { current: HTMLElement | null }): { top: number; width: number } {
  const [box, setBox] = useState({ top: 0, width: 0 })
  useLayoutEffect(() => {
    const measure = () => {
      const bounds = element.current?.getBoundingClientRect()
      if (!bounds) return
      const next = { top: Math.round(bounds.top + scrollY), width: Math.round(bounds.width) }
      setBox((before) => (before.top === next.top && before.width === next.width ? before : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return box
}

function readWindow() {
  return { scrolled: scrollY, viewHeight: innerHeight }
}
