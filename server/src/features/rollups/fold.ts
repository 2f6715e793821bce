import type { ClickHouse } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'
import { selectValues } from './store.ts'
import { type Foldable, foldable } from './sums.ts'

export type Foldables = Record<Exclude<Foldable, 'base_url'> | 'country' | 'region' | 'workspace_id', string> & {
  timestamp: number
  bot?: string
  folded?: number
}
/** The values of a workspace, day and dimension that the rollup counts separately, as far as this process knows. */
type Admitted = { workspaceId: string; day: string; dimension: Foldable; values: Set<string>; isLoaded: boolean }
type Memory = { admitted: Map<string, Admitted>; bytes: number }

// With fewer values than this, ClickHouse is not queried for values that other processes count separately.
const loadAt = 100
const maxBytes = 64_000_000
// Longer values, such as URLs with a long query, are folded at once: a day has up to ROLLUP_VALUES_PER_DAY of them.
const longestValue = 500
const entryBytes = 100
const plain = new Set(['', 'Unknown', '(direct)'])

/**
 * Sets the bits of the column `folded`: the daily rollup counts these values of an event in one total, not separately.
 * They are values beyond the first ROLLUP_VALUES_PER_DAY distinct ones of a workspace, day and dimension. The event
 * keeps its values. Verifying and rebuilding rollups read the same bits, so they always get the same result.
 */
export async function markFolded(
  { clickhouse, config }: Pick<Platform, 'clickhouse' | 'config'>,
  rows: Foldables[],
): Promise<void> {
  const memory = openMemory(clickhouse)
  const limit = config.ROLLUP_VALUES_PER_DAY
  const unknown = new Set<Admitted>()
  for (const row of rows) markRow(memory, row, limit, unknown)
  if (unknown.size > 0) {
    for (const admitted of unknown) await load(clickhouse, memory, admitted, limit)
    for (const row of rows) markRow(memory, row, limit, new Set())
  }
  forgetOldest(memory)
}

function markRow(memory: Memory, row: Foldables, limit: number, unknown: Set<Admitted>): void {
  let folded = 0
  // The rollup counts clicks by bots by their reason alone.
  if (!row.bot) {
    const day = new Date(row.timestamp).toISOString().slice(0, 10)
    for (const [bit, dimension] of foldable.entries()) {
      const value = readValue(row, dimension)
      if (plain.has(value)) continue
      if (
        value.length > longestValue ||
        !isAdmitted(memory, { workspaceId: row.workspace_id, day, dimension }, value, limit, unknown)
      )
        folded |= 1 << bit
    }
  }
  row.folded = folded
}

/** The value of a dimension as the rollup counts it; one of `plain` when every workspace has it. */
function readValue(row: Foldables, dimension: Foldable): string {
  if (dimension === 'city') return plain.has(row.city) ? row.city : `${row.country}\t${row.region}\t${row.city}`
  if (dimension !== 'base_url') return row[dimension]
  const end = row.url.search(/[?#]/)
  return end === -1 ? row.url : row.url.slice(0, end)
}

function isAdmitted(
  memory: Memory,
  of: Pick<Admitted, 'workspaceId' | 'day' | 'dimension'>,
  value: string,
  limit: number,
  unknown: Set<Admitted>,
): boolean {
  const name = `${of.workspaceId} ${of.day} ${of.dimension}`
  let admitted = memory.admitted.get(name)
  if (!admitted) {
    admitted = { ...of, values: new Set(), isLoaded: false }
    memory.admitted.set(name, admitted)
    memory.bytes += entryBytes
  }
  if (admitted.values.has(value)) return true
  if (!admitted.isLoaded && admitted.values.size >= Math.min(loadAt, limit)) unknown.add(admitted)
  else if (admitted.values.size < limit) {
    remember(memory, admitted, value)
    return true
  }
  return false
}

async function load(clickhouse: ClickHouse, memory: Memory, admitted: Admitted, limit: number): Promise<void> {
  const { workspaceId, day, dimension } = admitted
  for (const value of await selectValues(clickhouse, { workspaceId, day, dimension, limit }))
    if (!admitted.values.has(value)) remember(memory, admitted, value)
  admitted.isLoaded = true
}

function remember(memory: Memory, { values }: Admitted, value: string): void {
  values.add(value)
  memory.bytes += entryBytes + value.length * 2
}

function forgetOldest(memory: Memory): void {
  for (const [name, { values }] of memory.admitted) {
    if (memory.bytes <= maxBytes) return
    memory.admitted.delete(name)
    memory.bytes -= entryBytes
    for (const value of values) memory.bytes -= entryBytes + value.length * 2
  }
}

const openMemory = memoByObject((_: ClickHouse): Memory => ({ admitted: new Map(), bytes: 0 }))
