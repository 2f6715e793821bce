import { type FocusEvent, type PointerEvent, useCallback, useEffect, useState } from 'react'

/** The first that holds is said. */
const pauseReasons = ['chosen', 'open', 'pointer', 'focus', 'scrolled'] as const
export type PauseReason = (typeof pauseReasons)[number]

/** Rows that come above would push away those that are read from here on. */
const scrolledPx = 80

/**
 * Whether the list stays as it is, and why: somebody said so, something of it is open, or somebody is reading it. The
 * handlers are for the element around the list.
 */
export function usePause(isOpen: boolean) {
  const [isChosen, setChosen] = useState(false)
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isScrolled = useScrolled()
  const reasons = { chosen: isChosen, open: isOpen, pointer: isPointed, focus: isFocused, scrolled: isScrolled }
  // A row with the focus may be gone without having lost it.
  const checkFocus = useCallback(
    () => setFocused((before) => before && document.activeElement?.closest('[data-index]') != null),
    [],
  )
  return {
    reason: pauseReasons.find((reason) => reasons[reason]),
    isChosen,
    setChosen,
    checkFocus,
    handlers: {
      onPointerEnter: ({ pointerType }: PointerEvent) => setPointed(pointerType === 'mouse'),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => setFocused(currentTarget.contains(relatedTarget)),
    },
  }
}

function useScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const listen = () => setScrolled(scrollY > scrolledPx)
    // Captured, to be read before the table draws rows: a read after that would lay out the page again.
    const options = { capture: true, passive: true }
    addEventListener('scroll', listen, options)
    return () => removeEventListener('scroll', listen, options)
  }, [])
  return isScrolled
}
