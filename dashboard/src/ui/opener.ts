import { useRef } from 'react'

/** Returns the focus to where it was when an overlay opened, also if a command or a menu opened it. */
export function useFocusReturn() {
  const opener = useRef<HTMLElement>(undefined)
  opener.current ??= findOpener()
  return {
    onOpenAutoFocus({ currentTarget }: Event) {
      // A field of the overlay may have the focus already; then what had it before the first render counts.
      const isInside = currentTarget instanceof Node && currentTarget.contains(document.activeElement)
      if (!isInside) opener.current = findOpener()
    },
    onCloseAutoFocus(event: Event) {
      event.preventDefault()
      opener.current?.focus()
    },
  }
}

/** What has the focus; the button of a menu whose item has it, because the item is about to disappear. */
function findOpener(): HTMLElement | undefined {
  const active = document.activeElement
  const menu = active?.closest('[role=menu]')
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
  return opener instanceof HTMLElement ? opener : undefined
}
