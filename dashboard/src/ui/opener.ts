import { useRef } from 'react'

/** Openers of closed overlays, for an overlay that opened from one. */
const openers = new WeakMap<Node, HTMLElement>()

/** Returns the focus to where it was when an overlay opened, also if a command or a menu opened it. */
export function useFocusReturn() {
  const opener = useRef<HTMLElement>(undefined)
  opener.current ??= findOpener()
  return {
    onOpenAutoFocus({ currentTarget }: Event) {
      // A field of the overlay may have the focus already; then what had it before the first render counts.
      const isInside = currentTarget instanceof Node && currentTarget.contains(document.activeElement)
      if (!isInside) opener.current = findOpener() ?? opener.current
    },
    onCloseAutoFocus(event: Event) {
      event.preventDefault()
      const present = findPresent(opener.current)
      if (event.currentTarget instanceof Node && present) openers.set(event.currentTarget, present)
      present?.focus()
    },
  }
}

/** What has the focus; the button of a menu whose item has it, because the item is about to disappear. */
function findOpener(): HTMLElement | undefined {
  const active = document.activeElement
  const menu = active?.closest('[role=menu]')
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : active
  return opener instanceof HTMLElement && opener !== document.body ? opener : undefined
}

/** The opener, or that of the overlay that it was in, if that is no longer in the page. */
function findPresent(opener: HTMLElement | undefined): HTMLElement | undefined {
  if (!opener || opener.isConnected) return opener
  const overlay = opener.closest('[role=dialog]')
  return findPresent(overlay ? openers.get(overlay) : undefined)
}
