import { useRef } from 'react'

/** The value, or while it is stale the one from before. */
export function useLastCurrent<T>(value: T, isStale: boolean): T {
  const last = useRef(value)
  if (!isStale) last.current = value
  return last.current
}
