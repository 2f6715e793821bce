import { AppError } from '../../platform/errors.ts'

/** Lets few through at once and some wait; whoever comes then is asked to come again. */
export function gate(atOnce: number, mostWaiting: number) {
  const waiting: (() => void)[] = []
  let inside = 0

  return async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (inside >= atOnce) {
      if (waiting.length >= mostWaiting) {
        throw new AppError(
          'rate_limit_exceeded',
          'Too many codes are being drawn at the same time. Try again in a moment.',
        )
      }
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else inside += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inside -= 1
    }
  }
}
