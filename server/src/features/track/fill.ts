import type { Platform } from '../../platform/context.ts'
import { clicksById, type StoredClick } from '../events/service.ts'
import type { PendingRow } from './store.ts'

/** The conversions that one insert takes, with their clicks, and those that wait for their click. */
export type Filled = {
  rows: PendingRow[]
  clicks: Map<string, StoredClick>
  waiting: PendingRow[]
  /** Not looked at any more, because the insert was full. */
  rest: PendingRow[]
}

// So many clicks are in memory at once before it is known whether they fit.
const clicksAtOnce = 50

/** Takes conversions in order until their rows reach `mostBytes`; one alone is taken whatever its size. */
export async function fill(
  platform: Pick<Platform, 'clickhouse'>,
  pending: PendingRow[],
  mostBytes: number,
  isReady: (row: PendingRow, click: StoredClick | undefined) => boolean,
): Promise<Filled> {
  const filled: Filled = { rows: [], clicks: new Map(), waiting: [], rest: [] }
  let bytes = 0
  for (let start = 0; start < pending.length; start += clicksAtOnce) {
    const part = pending.slice(start, start + clicksAtOnce)
    const clicks = await readClicks(platform, part)
    for (const [position, row] of part.entries()) {
      const click = clicks.get(row.click_id ?? '')
      if (!isReady(row, click)) {
        filled.waiting.push(row)
        continue
      }
      bytes += Number(row.bytes) + row.quantity * clickBytes(click)
      if (bytes > mostBytes && filled.rows.length > 0) {
        filled.rest = pending.slice(start + position)
        return filled
      }
      filled.rows.push(row)
      if (click) filled.clicks.set(click.id_text, click)
    }
  }
  return filled
}

/** As far as they have arrived. */
async function readClicks(
  platform: Pick<Platform, 'clickhouse'>,
  rows: PendingRow[],
): Promise<Map<string, StoredClick>> {
  const named = new Map(
    rows.flatMap(({ workspace_id, click_id }) => (click_id === null ? [] : [[click_id, { workspace_id, click_id }]])),
  )
  const clicks = await clicksById(platform, [...named.values()])
  return new Map(clicks.map((click) => [click.id_text, click]))
}

/** Most of what a row has of its click; a text in UTF-8 has at most three bytes for each of its units. */
function clickBytes(click: StoredClick | undefined): number {
  if (!click) return 0
  return Object.values(click).reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}
