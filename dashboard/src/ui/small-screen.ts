import { useSyncExternalStore } from 'react'

const query = globalThis.matchMedia?.('(width < 720px)')

/** Whether the screen is so small that lists become cards. */
export function useSmallScreen(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches)
}

function subscribe(listener: () => void): () => void {
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}
