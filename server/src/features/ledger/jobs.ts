import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { foldLedgerSums } from './service.ts'

const foldIntervalMs = 60_000

export function startLedgerFolding(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'fold ledger sums', foldIntervalMs, (signal) => foldLedgerSums(platform, signal))
}
