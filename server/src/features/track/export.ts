import { randomUUID } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { conflict } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { placeCustomers } from '../customers/service.ts'
import {
  appendConversions,
  appendConversionsAgain,
  betweenConversions,
  clicksById,
  restoreConversions,
  type StoredClick,
} from '../events/service.ts'
import { countConversions } from '../links/service.ts'
import { countsOf, rowsOf } from './rows.ts'
import { type ConversionRow, fixBatch, markStored, postpone, selectDue, selectStored, takeOverBatch } from './store.ts'

type Engines = Pick<Platform, 'db' | 'clickhouse'>

export const mostAtOnce = 1_000
// After a day nobody waits for the click any more: its place and device stay unknown.
const patienceMs = 24 * 3_600_000

/** Brings some conversions to ClickHouse and the counters, each exactly once; says how many were due. */
export async function exportSome(platform: Platform): Promise<number> {
  const cutOff = await takeOverBatch(platform.db)
  if (cutOff.length > 0) return store(platform, cutOff, await clicksOf(platform, cutOff), appendConversionsAgain)
  const due = await selectDue(platform.db, mostAtOnce)
  if (due.length === 0) return 0
  const clicks = await clicksOf(platform, due)
  const isReady = (row: ConversionRow) =>
    clicks.has(row.click_id ?? '') || platform.now().getTime() - row.created_at.getTime() > patienceMs
  const waiting = due.filter((row) => !isReady(row))
  if (waiting.length > 0) await postpone(platform.db, numbersOf(waiting))
  const fixed = await fixBatch(platform.db, randomUUID(), numbersOf(due.filter(isReady)))
  if (fixed.length > 0) await store(platform, fixed, clicks, appendConversions)
  return due.length
}

/** Adds to ClickHouse what was stored there, after a number and of one link or of all, and has no row any more. */
export function restoreSome(platform: Engines, from: { linkNumber?: bigint; after: bigint }) {
  return betweenConversions(platform, async (platform, isStill) => {
    if (!isStill) throw conflict('A batch of leads and sales does not end. Is a worker stuck? Try again in a minute.')
    const conversions = await selectStored(platform.db, { ...from, count: mostAtOnce })
    const added = await restoreConversions(platform, rowsOf(conversions, await clicksOf(platform, conversions)))
    const last = conversions.length < mostAtOnce ? undefined : conversions.at(-1)?.number
    return { read: conversions.length, added, last }
  })
}

async function store(
  platform: Platform,
  rows: ConversionRow[],
  clicks: Map<string, StoredClick>,
  append: typeof appendConversions,
): Promise<number> {
  const batch = rows[0]?.batch as string
  await transaction(platform, async (platform) => {
    await append(platform, rowsOf(rows, clicks), batch)
    await countConversions(platform, countsOf(await markStored(platform.db, batch)))
    await placeCustomers(platform, countriesOf(rows, clicks))
  })
  return rows.length
}

/** In one order everywhere, so that two workers never wait for each other. */
function countriesOf(rows: ConversionRow[], clicks: Map<string, StoredClick>): { id: string; country: string }[] {
  const countries = new Map(rows.map((row) => [row.customer_id, clicks.get(row.click_id ?? '')?.country ?? '']))
  const isCountry = (country: string) => /^[A-Z]{2}$/.test(country)
  return [...countries]
    .flatMap(([id, country]) => (isCountry(country) ? [{ id, country }] : []))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The clicks of these conversions, as far as they have arrived. */
async function clicksOf(platform: Engines, rows: ConversionRow[]): Promise<Map<string, StoredClick>> {
  const wanted = new Map(
    rows.flatMap(({ workspace_id, click_id }) => (click_id === null ? [] : [[click_id, { workspace_id, click_id }]])),
  )
  const clicks = await clicksById(platform, [...wanted.values()])
  return new Map(clicks.map((click) => [click.id_text, click]))
}

function numbersOf(rows: ConversionRow[]): bigint[] {
  return rows.map(({ number }) => number)
}
