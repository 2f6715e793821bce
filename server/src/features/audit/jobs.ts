import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { recordCounts, removeExpired } from './retention.ts'
import { sealEntries } from './seal-entries.ts'

const sealIntervalMs = 400
const countIntervalMs = 60_000
const retentionIntervalMs = 3_600_000

export function startAuditSealing(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'seal audit entries', sealIntervalMs, (signal) => sealEntries(platform, signal))
}

export function startAuditRetention(platform: Platform): AsyncDisposable {
  const counting = startInterval(platform, 'record audit counts', countIntervalMs, () => recordCounts(platform))
  const removing = startInterval(platform, 'remove expired audit entries', retentionIntervalMs, (signal) =>
    removeExpired(platform, signal),
  )
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([counting[Symbol.asyncDispose](), removing[Symbol.asyncDispose]()])
    },
  }
}
