import { useSyncExternalStore } from 'react'
import type { Link } from './queries.ts'

/** What the builder begins with: nothing, a pasted destination, a link to edit, a link to copy, or tracking turned on. */
export type BuilderStart = { url?: string; edit?: Link; copy?: Link; isTracked?: boolean }

let start: BuilderStart | undefined
const changed = new EventTarget()

/** Opens the builder over the current page. */
export function openBuilder(given: BuilderStart = {}): void {
  start = given
  changed.dispatchEvent(new Event('change'))
}

export function closeBuilder(): void {
  start = undefined
  changed.dispatchEvent(new Event('change'))
}

export function useBuilderStart(): BuilderStart | undefined {
  return useSyncExternalStore(subscribe, () => start)
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}
