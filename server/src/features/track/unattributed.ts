import { randomUUID } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { appendUnattributed } from '../events/service.ts'
import { rowsOf } from './rows.ts'
import { type ConversionRow, claimUnattributed, markUnattributed } from './store.ts'

export const claimedAtOnce = 100
// A lead of 100 with the largest metadata is 1 MB of rows.
const mostBytes = 4_000_000
const rowBytes = 500

/** Brings some leads and sales that belong to no link to ClickHouse, where they can be listed; says how many. */
export async function exportUnattributed(platform: Platform): Promise<number> {
  const claimed = await claimUnattributed(platform.db, claimedAtOnce)
  for (const some of splitByBytes(claimed)) {
    const { leads, sales } = rowsOf(some, new Map())
    const reasons = new Map(some.map((row) => [row.id, notAttributed(row)]))
    const withReason = <Row extends { id: string }>(row: Row) => {
      return { ...row, trigger: '', attribution: reasons.get(row.id.replace(/_\d+$/, '')) ?? outsideWindow }
    }
    await appendUnattributed(platform, { leads: leads.map(withReason), sales: sales.map(withReason) })
    const numbers = some.map(({ number }) => number)
    await markUnattributed(platform.db, randomUUID(), numbers)
  }
  return claimed.length
}

const outsideWindow = 'outside_window'

/** Sales that earlier releases recorded say only that they follow their lead. */
function notAttributed({ attribution }: ConversionRow): string {
  return attribution === 'lead' ? outsideWindow : attribution
}

function* splitByBytes(rows: ConversionRow[]): Generator<ConversionRow[]> {
  let part: ConversionRow[] = []
  let bytes = 0
  for (const row of rows) {
    const size = row.quantity * (rowBytes + Buffer.byteLength(row.metadata ?? ''))
    if (part.length > 0 && bytes + size > mostBytes) {
      yield part
      part = []
      bytes = 0
    }
    part.push(row)
    bytes += size
  }
  if (part.length > 0) yield part
}
