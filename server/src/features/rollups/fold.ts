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
/** The values of a dimension that the rollup counts separately on a day of a workspace, as far as this process knows. */
type Admitted = { dimension: Foldable; values: Set<string>; isLoaded: boolean }
/** A day of a workspace, with its dimensions in the order of their bits. */
type Day = { workspaceId: string; day: number; dimensions: Admitted[] }
type Memory = { days: Map<string, Day>; bytes: number }
type Unknown = Map<Admitted, Day>

// With fewer values than this, ClickHouse is not queried for values that other processes count separately.
const loadAt = 100
const maxBytes = 64_000_000
// Longer values, such as URLs with a long query, are folded at once: a day has up to ROLLUP_VALUES_PER_DAY of them.
const longestValue = 500
const entryBytes = 100
const dayMs = 86_400_000

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
  const unknown: Unknown = new Map()
  for (const row of rows) markRow(memory, row, limit, unknown)
  if (unknown.size > 0) {
    for (const [admitted, day] of unknown) await load(clickhouse, memory, admitted, day, limit)
    for (const row of rows) markRow(memory, row, limit, new Map())
  }
  forgetOldest(memory)
}

function markRow(memory: Memory, row: Foldables, limit: number, unknown: Unknown): void {
  let folded = 0
  // The rollup counts clicks by bots by their reason alone.
  if (!row.bot) {
    const day = findDay(memory, row.workspace_id, Math.floor(row.timestamp / dayMs))
    for (let bit = 0; bit < foldable.length; bit++) {
      const admitted = day.dimensions[bit] as Admitted
      const value = readValue(row, admitted.dimension)
      if (isPlain(value)) continue
      const isShort = value.length <= longestValue
      const isAdmitted = isShort && (admitted.values.has(value) || admit(memory, day, admitted, value, limit, unknown))
      if (!isAdmitted) folded |= 1 << bit
    }
  }
  row.folded = folded
}

/** The value of a dimension as the rollup counts it; one for which `isPlain` is true when every workspace has it. */
function readValue(row: Foldables, dimension: Foldable): string {
  if (dimension === 'city') return isPlain(row.city) ? row.city : `${row.country}\t${row.region}\t${row.city}`
  if (dimension !== 'base_url') return row[dimension]
  const end = row.url.search(/[?#]/)
  return end === -1 ? row.url : row.url.slice(0, end)
}

/** Whether every workspace has this value. Comparing is faster than a set, which hashes each new text. */
function isPlain(value: string): boolean {
  return value === '' || value === 'Unknown' || value === '(direct)'
}

function findDay(memory: Memory, workspaceId: string, day: number): Day {
  const name = `${workspaceId} ${day}`
  const known = memory.days.get(name)
  if (known) return known
  const dimensions = foldable.map((dimension) => ({ dimension, values: new Set<string>(), isLoaded: false }))
  const added = { workspaceId, day, dimensions }
  memory.days.set(name, added)
  memory.bytes += entryBytes * foldable.length
  return added
}

/** Whether a new value is counted separately; false, too, while it is unknown what other processes count. */
function admit(memory: Memory, day: Day, admitted: Admitted, value: string, limit: number, unknown: Unknown): boolean {
  if (!admitted.isLoaded && admitted.values.size >= Math.min(loadAt, limit)) unknown.set(admitted, day)
  else if (admitted.values.size < limit) {
    remember(memory, admitted, value)
    return true
  }
  return false
}

async function load(
  clickhouse: ClickHouse,
  memory: Memory,
  admitted: Admitted,
  { workspaceId, day }: Day,
  limit: number,
): Promise<void> {
  const date = new Date(day * dayMs).toISOString().slice(0, 10)
  const { dimension } = admitted
  for (const value of await selectValues(clickhouse, { workspaceId, day: date, dimension, limit }))
    if (!admitted.values.has(value)) remember(memory, admitted, value)
  admitted.isLoaded = true
}

function remember(memory: Memory, { values }: Admitted, value: string): void {
  values.add(value)
  memory.bytes += entryBytes + value.length * 2
}

function forgetOldest(memory: Memory): void {
  for (const [name, { dimensions }] of memory.days) {
    if (memory.bytes <= maxBytes) return
    memory.days.delete(name)
    memory.bytes -= entryBytes * foldable.length
    for (const { values } of dimensions) for (const value of values) memory.bytes -= entryBytes + value.length * 2
  }
}

const openMemory = memoByObject((_: ClickHouse): Memory => ({ days: new Map(), bytes: 0 }))
