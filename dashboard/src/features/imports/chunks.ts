import { ApiError } from '@tributary/contract/client'

const chunkSize = 100
const mostAttempts = 5

type Progress = { signal: AbortSignal; onProgress(done: number): void }

/** Sends items a hundred at a time, one request after another; waits and repeats when the server is busy or away. */
export async function sendChunks<T, R>(
  items: readonly T[],
  send: (chunk: readonly T[]) => Promise<readonly R[]>,
  { signal, onProgress }: Progress,
): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += chunkSize) {
    signal.throwIfAborted()
    const chunk = items.slice(at, at + chunkSize)
    results.push(...(await repeat(() => send(chunk), signal)))
    onProgress(Math.min(at + chunkSize, items.length))
  }
  return results
}

/** Repeats a request while the server is busy or away. */
export async function repeat<R>(work: () => Promise<R>, signal: AbortSignal): Promise<R> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === mostAttempts || !isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs(error, attempt)))
      signal.throwIfAborted()
    }
  }
}

function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status >= 500
}

function pauseMs(error: unknown, attempt: number): number {
  const seconds = error instanceof ApiError ? Number(error.headers.get('retry-after')) : 0
  return seconds > 0 ? Math.min(seconds, 60) * 1_000 : 1_000 * 2 ** attempt
}
