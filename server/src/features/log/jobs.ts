import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { logMetrics } from './metrics.ts'
import { clickhouseFreeRatio, purgeStored, streamUsage } from './service.ts'

const intervalMs = 5_000
const diskIntervalMs = 15_000

/** Purges stored messages of event log streams above the watermark, and measures streams and disks, in every worker. */
export function startLogRetention(platform: Platform): AsyncDisposable {
  const parts = [
    startInterval(platform, 'log size', intervalMs, () => measureStreams(platform)),
    startInterval(platform, 'log retention', intervalMs, () => purge(platform)),
    startInterval(platform, 'disks', diskIntervalMs, () => measureDisks(platform)),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}

async function measureStreams(platform: Platform): Promise<void> {
  const metrics = logMetrics(platform)
  for (const { stream, bytes, limitBytes } of await streamUsage(platform)) {
    metrics.bytes.set({ stream }, bytes)
    metrics.limit.set({ stream }, limitBytes)
  }
}

async function purge(platform: Platform): Promise<void> {
  for (const { stream, messages } of await purgeStored(platform)) {
    logMetrics(platform).purged.inc({ stream }, messages)
    platform.log.warn({ stream, messages }, 'event log is above its watermark, stored messages purged')
  }
}

async function measureDisks(platform: Platform): Promise<void> {
  const free = await clickhouseFreeRatio(platform)
  if (free !== undefined) platform.metrics.diskFree.set({ disk: 'clickhouse' }, free)
}
