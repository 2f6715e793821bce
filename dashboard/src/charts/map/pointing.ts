import { type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, useRef, useState } from 'react'
import { moveRank } from './map.ts'

type Reading = {
  /** Countries that keys go through, in their order. */
  codes: readonly string[]
  onChoose(code: string): void
  /** The middle of a country in pixels. */
  locate(code: string): { x: number; y: number }
}

/** The country that a reader points at, by the pointer, a finger or keys, and where on the map that is. */
export function useMapPointing({ codes, onChoose, locate }: Reading) {
  const [pointed, setPointed] = useState<{ code: string; x: number; y: number }>()
  // A finger points first and chooses with its second touch.
  const isChoosing = useRef(false)
  const follow = (event: PointerEvent) => {
    const code = findCode(event)
    const { left, top } = event.currentTarget.getBoundingClientRect()
    setPointed(code === undefined ? undefined : { code, x: event.clientX - left, y: event.clientY - top })
    return code
  }
  const go = (rank: number) => {
    const code = codes[rank]
    if (code !== undefined) setPointed({ code, ...locate(code) })
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const rank = pointed ? codes.indexOf(pointed.code) : -1
    const next = moveRank(event.key, rank, codes.length)
    if (next !== undefined) go(next)
    else if (event.key === 'Enter' && pointed) onChoose(pointed.code)
    else if (event.key === 'Escape') event.currentTarget.blur()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const handlers = {
    onPointerMove: follow,
    onPointerDown: (event: PointerEvent) => {
      const before = pointed?.code
      isChoosing.current = follow(event) === before || event.pointerType !== 'touch'
    },
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType !== 'touch' && setPointed(undefined),
    onClick: (event: MouseEvent) => {
      const code = findCode(event)
      if (isChoosing.current && code !== undefined) onChoose(code)
    },
    onFocus: ({ currentTarget }: FocusEvent) => currentTarget.matches(':focus-visible') && go(0),
    onBlur: () => setPointed(undefined),
    onKeyDown: press,
  }
  return { pointed, handlers }
}

function findCode({ target }: MouseEvent): string | undefined {
  return target instanceof SVGElement ? target.dataset.code : undefined
}
