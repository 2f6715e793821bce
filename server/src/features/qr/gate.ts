import { AppError } from '../../platform/errors.ts'

type Lane = { inside: number; waiting: (() => void)[] }
type Share = { atOnce: number; mostWaiting: number; pauseFactor?: number; longestPauseMs?: number }

/**
 * Limits the concurrency per visitor. After each call, its slot pauses for a multiple of the call's duration, so that
 * one busy visitor leaves most of the processing time to others.
 */
export function lanes({ atOnce, mostWaiting, pauseFactor = 0, longestPauseMs = 0 }: Share) {
  const open = new Map<string, Lane>()

  function leave(visitor: string, lane: Lane): void {
    const next = lane.waiting.shift()
    if (next) next()
    else lane.inside -= 1
    if (lane.inside === 0) open.delete(visitor)
  }

  return async function pass<T>(visitor: string, work: () => Promise<T>): Promise<T> {
    const lane = open.get(visitor) ?? { inside: 0, waiting: [] }
    open.set(visitor, lane)
    if (lane.inside >= atOnce) {
      if (lane.waiting.length >= mostWaiting) throw tooMany()
      await new Promise<void>((resolve) => lane.waiting.push(resolve))
    } else lane.inside += 1
    const started = performance.now()
    try {
      return await work()
    } finally {
      const pauseMs = Math.min(longestPauseMs, pauseFactor * (performance.now() - started))
      if (pauseMs < 1) leave(visitor, lane)
      else setTimeout(leave, pauseMs, visitor, lane).unref()
    }
  }
}

function tooMany(): AppError {
  return new AppError('rate_limit_exceeded', 'Too many QR codes are being drawn at the same time. Retry in a moment.')
}

/** Limits the concurrency of all visitors together: a few calls run, some queue, the rest get 429. */
export function gate(atOnce: number, mostWaiting: number) {
  const pass = lanes({ atOnce, mostWaiting })
  return <T>(work: () => Promise<T>): Promise<T> => pass('', work)
}
