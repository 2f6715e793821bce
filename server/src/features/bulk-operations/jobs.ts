import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { expireOperations, runBatch } from './run.ts'

const runIntervalMs = 300
const expireIntervalMs = 600_000

/** Runs bulk operations batch by batch, and expires old ones. */
export function startBulkOperations(platform: Platform): AsyncDisposable {
  const parts = [
    startInterval(platform, 'run bulk operations', runIntervalMs, async (signal) => {
      while (!signal.aborted && (await runBatch(platform)));
    }),
    startInterval(platform, 'expire bulk operations', expireIntervalMs, async (signal) => {
      while (!signal.aborted && (await expireOperations(platform)));
    }),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}
