import type { QrDesign } from '@tributary/contract/qr-designs'
import { useSyncExternalStore } from 'react'

/** The QR code that the designer shows, and whose design it changes. */
export type DesignTarget = {
  /** What the code encodes. */
  url: string
  /** The short address as people write it. */
  name: string
  domain: string
  linkId?: string
  /** For a link that does not exist yet: its design so far, and who receives the new one. */
  draft?: QrDesign
  onUse?(design: QrDesign | undefined): void
}

let target: DesignTarget | undefined
const changed = new EventTarget()

/** Opens the designer over the current page. */
export function openDesigner(given: DesignTarget): void {
  target = given
  changed.dispatchEvent(new Event('change'))
}

export function closeDesigner(): void {
  target = undefined
  changed.dispatchEvent(new Event('change'))
}

export function useDesignTarget(): DesignTarget | undefined {
  return useSyncExternalStore(subscribe, () => target)
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}
