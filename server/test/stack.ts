import { afterAll, inject } from 'vitest'
import { readConfig } from '../src/platform/config.ts'
import type { Platform } from '../src/platform/context.ts'
import { openPlatform } from '../src/platform/handles.ts'
import { openLog } from '../src/platform/log.ts'

/** Opens the platform on the real databases of this test run; closed after the file's tests. */
export async function openTestPlatform(overrides: Record<string, string> = {}): Promise<Platform> {
  const config = readConfig({ ...inject('environment'), ...overrides })
  const platform = await openPlatform(config, openLog('silent'))
  afterAll(() => platform[Symbol.asyncDispose]())
  return platform
}

/** Retries a check until it passes, for results that appear with a delay. */
export async function eventually<T>(attempt: () => Promise<T>, withinMs = 60_000): Promise<T> {
  const until = Date.now() + withinMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
}
