import { useEffect, useState } from 'react'

/** A value that follows after it has not changed for a moment, such as when typing pauses. */
export function usePaused<T>(value: T, pauseMs = 300): T {
  const [paused, setPaused] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return paused
}
