import { type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, useRef, useState } from 'react'
import { moveIndex } from '../series.ts'

type Reading = {
  count: number
  indexAt(offset: number): number
  onChoose?(index: number): void
}

/**
 * The position that a reader points at: by the pointer, by a finger that stays until another one, or by keys while the chart
 * has focus. Keys that move within the chart don't reach the page.
 */
export function usePointing({ count, indexAt, onChoose }: Reading) {
  const [chosen, setPointed] = useState<number>()
  // A finger points first and chooses with its second touch.
  const isChoosing = useRef(false)
  const pointed = chosen !== undefined && chosen < count ? chosen : undefined
  const find = ({ clientX, currentTarget }: MouseEvent) => indexAt(clientX - currentTarget.getBoundingClientRect().left)
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const next = moveIndex(event.key, pointed ?? count, count)
    if (next !== undefined) setPointed(next)
    else if (event.key === 'Enter' && onChoose && pointed !== undefined) onChoose(pointed)
    else if (event.key === 'Escape') event.currentTarget.blur()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const handlers = {
    onPointerMove: (event: PointerEvent) => setPointed(find(event)),
    onPointerDown: (event: PointerEvent) => {
      const index = find(event)
      isChoosing.current = event.pointerType !== 'touch' || index === pointed
      setPointed(index)
    },
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType !== 'touch' && setPointed(undefined),
    onClick: (event: MouseEvent) => isChoosing.current && onChoose?.(find(event)),
    onFocus: ({ currentTarget }: FocusEvent) => currentTarget.matches(':focus-visible') && setPointed(count - 1),
    onBlur: () => setPointed(undefined),
    onKeyDown: press,
  }
  return { pointed, handlers }
}
