import { randomUUID } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { deleteLetters } from '../../platform/dead-letters.ts'
import { conflict } from '../../platform/errors.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { describeFailure, divide, judgeFailure } from '../../platform/refusal.ts'
import {
  appendConversions,
  appendUnattributed,
  betweenConversions,
  isAnyStored,
  restoreConversions,
} from '../event-storage/service.ts'
import { countConversions } from '../links/service.ts'
import { appendConversionsAgain, foldRareValues } from '../rollups/service.ts'
import { readReason } from './attribution.ts'
import { enrichSome, loadClicks } from './click-facts.ts'
import { buryConversion } from './dead-letters.ts'
import { trackMetrics } from './metrics.ts'
import { buildRows, sumCounts, takePortion } from './rows.ts'
import {
  type ConversionRow,
  claimUnattributed,
  fixBatch,
  forgetAttempt,
  markStored,
  markUnattributed,
  moveToBatch,
  type PendingRow,
  selectBatch,
  selectByNumber,
  selectDue,
  selectOverdue,
  selectStored,
  selectUnderWay,
  takeOverBatch,
} from './store.ts'

type Engines = Pick<Platform, 'clickhouse' | 'db' | 'config'>

const mostAtOnce = 1_000
// How often to wait, five seconds each time, for a running export batch.
const patience = 5
// A batch is split after this many workers stopped while storing it, and each half after one more.
const mostAttempts = 4

/** Exports a batch of leads and sales to ClickHouse and the link counters, exactly once. Returns how many were due. */
export async function exportSome(platform: Platform): Promise<number> {
  return (await exportNext(platform)).count
}

/** Exports leads and sales that are due now. New ones wait for the next call, so that ClickHouse inserts stay large. */
export async function exportDue(platform: Platform, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await exportNext(platform)).isMore);
}

/** Exports both an interrupted batch and a new one, so that the former does not delay new leads and sales. */
async function exportNext(platform: Platform): Promise<{ count: number; isMore: boolean }> {
  const enriched = await enrichSome(platform)
  const takenOver = await finishBatch(platform)
  const fresh = await exportFresh(platform)
  return { count: enriched + takenOver + fresh.count, isMore: enriched > 0 || takenOver > 0 || fresh.isMore }
}

/** Exports the first insert of an interrupted batch; the rest of its rows become a new batch. */
async function finishBatch(platform: Platform): Promise<number> {
  const pending = await takeOverBatch(platform.db)
  const batch = pending[0]?.batch
  if (!batch) return 0
  if ((pending[0]?.attempts ?? 0) > mostAttempts) {
    await split(platform, pending, `Workers stopped ${mostAttempts} times while storing this row`, mostAttempts - 1)
    return pending.length
  }
  await orSplit(platform, pending, async () => {
    const { rest } = takePortion(pending, platform.config.CONVERSION_BATCH_BYTES)
    const moved = { from: batch, to: randomUUID(), numbers: listNumbers(rest), attempts: 0 }
    if (rest.length > 0) await moveToBatch(platform.db, moved)
    const rows = await selectBatch(platform.db, batch)
    if (rows.length > 0) await store(platform, rows, appendConversionsAgain)
  })
  return pending.length
}

/** Runs `work`; when it rejects the batch, splits the batch to isolate the bad row and store the others. */
async function orSplit(platform: Platform, rows: PendingRow[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const failure = judgeFailure(error)
    const batch = rows[0]?.batch
    if (failure === 'unavailable' && batch) await forgetAttempt(platform.db, batch).catch(() => {})
    if (failure !== 'refused') throw error
    platform.log.warn({ error, rows: rows.length }, 'batch of leads and sales rejected, splitting it')
    await split(platform, rows, describeFailure(error), 0)
  }
}

/** Moves each half of a batch into a new batch that is due at once; a single row becomes a dead letter. */
async function split(platform: Platform, rows: PendingRow[], reason: string, attempts: number): Promise<void> {
  const [alone, ...others] = rows
  if (alone && others.length === 0) return buryConversion(platform, alone, reason)
  const from = alone?.batch as string
  await transaction(platform, async ({ db }) => {
    for (const half of divide(rows))
      await moveToBatch(db, { from, to: randomUUID(), numbers: listNumbers(half), attempts })
  })
}

async function exportFresh(platform: Platform): Promise<{ count: number; isMore: boolean }> {
  const due = await selectDue(platform.db, mostAtOnce)
  if (due.length === 0) return { count: 0, isMore: false }
  const { rows, rest } = takePortion(due, platform.config.CONVERSION_BATCH_BYTES)
  const batch = randomUUID()
  const fixed = await fixBatch(platform.db, batch, listNumbers(rows))
  const numbers = new Set(listNumbers(fixed))
  const pending = rows.filter(({ number }) => numbers.has(number)).map((row) => ({ ...row, batch }))
  if (fixed.length > 0) await orSplit(platform, pending, () => store(platform, fixed, appendConversions))
  return { count: rows.length, isMore: rest.length > 0 || due.length === mostAtOnce }
}

/** Sets the metric of overdue leads and sales. Ignores errors: the health check logs that PostgreSQL is down. */
export async function measureOverdue(platform: Pick<Platform, 'db' | 'metrics'>): Promise<void> {
  const seconds = await selectOverdue(platform.db).catch(() => undefined)
  if (seconds !== undefined) trackMetrics(platform).overdue.set(seconds)
}

/** Adds rows that ClickHouse lost, for one link or all links, starting after the given conversion number. */
export function restoreSome(platform: Engines, from: { linkNumber?: bigint; after: bigint }) {
  return betweenConversions(platform, async (platform, isLocked) => {
    if (!isLocked)
      throw conflict(
        'A batch of leads and sales does not finish. Check whether a worker is stuck, and try again in a minute.',
      )
    const stored = await selectStored(platform.db, { ...from, count: mostAtOnce })
    const { rows, rest } = takePortion(stored, platform.config.CONVERSION_BATCH_BYTES)
    const conversions = await selectByNumber(platform.db, listNumbers(rows))
    const events = buildRows(conversions, await loadClicks(platform, conversions))
    await foldRareValues(platform, [...events.leads, ...events.sales])
    const added = await restoreConversions(platform, events)
    const isEnd = rest.length === 0 && stored.length < mostAtOnce
    return { read: rows.length, added, last: isEnd ? undefined : rows.at(-1)?.number }
  })
}

/**
 * Runs `work` while no batch is being exported: PostgreSQL and ClickHouse then agree about which leads and sales are
 * stored. They disagree about an interrupted batch, so this waits until a worker has finished it.
 */
export async function betweenExports<R>(platform: Engines, work: () => Promise<R>): Promise<R> {
  for (let attempt = 1; attempt <= patience; attempt++) {
    const done = await betweenConversions(platform, async (platform, isLocked) =>
      isLocked && !(await isCutOff(platform)) ? { result: await work() } : undefined,
    )
    if (done) return done.result
  }
  throw conflict(
    'A batch of leads and sales does not finish. Start a worker if none is running, and try again in a minute.',
  )
}

async function isCutOff(platform: Engines): Promise<boolean> {
  const rows = await selectUnderWay(platform.db)
  for (const [workspaceId, mine] of Map.groupBy(rows, ({ workspace_id }) => workspace_id)) {
    const { leads = [], sales = [] } = Object.groupBy(mine, ({ kind }) => (kind === 'lead' ? 'leads' : 'sales'))
    const ctx = { clickhouse: platform.clickhouse, workspaceId }
    if (await isAnyStored(ctx, 'leads', leads.map(eventTime))) return true
    if (await isAnyStored(ctx, 'sales', sales.map(eventTime))) return true
  }
  return false
}

function eventTime({ id, created_at }: Pick<ConversionRow, 'id' | 'created_at'>) {
  return { id, at: created_at.getTime() }
}

async function store(platform: Platform, rows: ConversionRow[], append: typeof appendConversions): Promise<number> {
  const batch = rows[0]?.batch as string
  const events = buildRows(rows, await loadClicks(platform, rows))
  await foldRareValues(platform, [...events.leads, ...events.sales])
  const record = async (platform: Platform) => {
    const stored = await markStored(platform.db, batch)
    await countConversions(platform, sumCounts(stored))
    const ids = stored.map(({ id }) => id)
    await deleteLetters(platform.db, 'conversion', ids)
  }
  await transaction(platform, async (platform) => {
    // Try the PostgreSQL writes first: rows that PostgreSQL rejects would have to be deleted from ClickHouse.
    if (append === appendConversionsAgain) await rehearse(platform, record)
    await append(platform, events, batch)
    await record(platform)
  })
  return rows.length
}

/** Runs `work` in a savepoint and rolls it back, only to see whether it throws. */
async function rehearse(platform: Platform, work: (platform: Platform) => Promise<void>): Promise<void> {
  const done = new Error('undo')
  await savepoint(platform, async (platform) => {
    await work(platform)
    throw done
  }).catch((error) => {
    if (error !== done) throw error
  })
}

function listNumbers(rows: { number: bigint }[]): bigint[] {
  return rows.map(({ number }) => number)
}

export const claimedAtOnce = 100
const rowBytes = 500

/** Exports a batch of leads and sales without a link to ClickHouse. Returns their number. */
export async function exportUnattributed(platform: Platform): Promise<number> {
  const claimed = await claimUnattributed(platform.db, claimedAtOnce)
  for (const some of splitByBytes(claimed, platform.config.CONVERSION_BATCH_BYTES)) {
    const problem = await storeUnattributed(platform, some).catch((error: unknown) => error)
    if (problem === undefined) continue
    if (some.length === 1) throw problem
    // A row that can't be stored must not block the other rows; it is retried when its claim expires.
    for (const row of some) {
      await storeUnattributed(platform, [row]).catch((err: unknown) =>
        platform.log.warn({ err, conversion: row.id }, 'lead or sale without a link not stored, will retry'),
      )
    }
  }
  return claimed.length
}

async function storeUnattributed(platform: Platform, rows: ConversionRow[]): Promise<void> {
  const { leads, sales } = buildRows(rows, new Map())
  const reasons = new Map(rows.map((row) => [row.id, readReason(row)]))
  const withReason = <Row extends { id: string }>(row: Row) => {
    return { ...row, trigger: '', attribution: reasons.get(row.id.replace(/_\d+$/, '')) ?? 'outside_window' }
  }
  await appendUnattributed(platform, { leads: leads.map(withReason), sales: sales.map(withReason) })
  const numbers = rows.map(({ number }) => number)
  await markUnattributed(platform.db, randomUUID(), numbers)
}

function* splitByBytes(rows: ConversionRow[], mostBytes: number): Generator<ConversionRow[]> {
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
