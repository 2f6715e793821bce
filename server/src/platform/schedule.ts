import { sleep } from './clock.ts'
import type { Platform } from './context.ts'

/** Runs `work` at once and then after each pause, until disposed; disposing waits for the run in progress. */
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
      log.warn({ schedule: name, error }, 'scheduled job failed, will retry')
    }
    await sleep(intervalMs, signal)
  }
}
