import { sleep } from './clock.ts'
import type { Platform } from './context.ts'

/** Works at once and then again after each pause, until disposed; what is under way is finished first. */
export function startInterval(
  platform: Pick<Platform, 'log'>,
  name: string,
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<void>,
): AsyncDisposable {
  const stopping = new AbortController()
  const running = loop(platform, name, intervalMs, work, stopping.signal)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

async function loop(
  { log }: Pick<Platform, 'log'>,
  name: string,
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work(signal)
    } catch (error) {
      log.warn({ schedule: name, error }, 'A scheduled work failed and is tried again')
    }
    await sleep(intervalMs, signal)
  }
}
