import { useRef } from 'react'

/** The value, or while it is stale the one from before. */
export function useSettled<T>(value: T, isStale: boolean): T {
  const settled = useRef(value)
  if (!isStale) settled.current = value
  return settled.current
}
