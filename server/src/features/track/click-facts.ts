import { chunks } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { describeFailure, divide, judgeFailure } from '../../platform/refusal.ts'
import { saveCustomerCountries } from '../customers/service.ts'
import { clicksById, type StoredClick } from '../event-storage/service.ts'
import { buryConversion } from './dead-letters.ts'
import { clickFactsMessage } from './messages.ts'
import { type ConversionRow, type PendingRow, postpone, saveClickFacts, selectWithoutClickFacts } from './store.ts'

const rowsAtOnce = 200
// A click that ClickHouse does not have after a day is lost: its lead or sale stays without location and device.
const patienceMs = 24 * 3_600_000

/**
 * Copies click facts (location, device, referrer) from ClickHouse to the click's leads and sales in PostgreSQL, where
 * all other code reads them. Returns the number of leads and sales that were due.
 */
export async function enrichSome(platform: Platform): Promise<number> {
  const due = await selectWithoutClickFacts(platform.db, rowsAtOnce)
  if (due.length > 0) await enrich(platform, due)
  return due.length
}

async function enrich(platform: Platform, rows: PendingRow[]): Promise<void> {
  const clicks = await readOrBury(platform, rows)
  if (!clicks) return
  const oldest = platform.now().getTime() - patienceMs
  const isResolved = (row: PendingRow) => clicks.has(row.click_id ?? '') || row.created_at.getTime() < oldest
  const waiting = rows.filter((row) => !isResolved(row))
  if (waiting.length > 0)
    await postpone(
      platform.db,
      waiting.map(({ number }) => number),
    )
  await saveFacts(platform, rows.filter(isResolved), clicks)
}

/** Reads clicks from ClickHouse. A lead or sale whose click id ClickHouse rejects becomes a dead letter. */
async function readOrBury(platform: Platform, rows: PendingRow[]): Promise<Map<string, StoredClick> | undefined> {
  try {
    return await readClicks(platform, rows)
  } catch (error) {
    if (judgeFailure(error) !== 'refused') throw error
    const [alone, ...others] = rows
    if (alone && others.length === 0) await buryConversion(platform, alone, describeFailure(error))
    else for (const half of divide(rows)) await enrich(platform, half)
  }
}

async function saveFacts(platform: Platform, rows: PendingRow[], clicks: Map<string, StoredClick>): Promise<void> {
  if (rows.length === 0) return
  const found = rows.map(({ number, click_id }) => {
    const click = clicks.get(click_id ?? '')
    return { number, facts: click ? JSON.stringify(click) : null }
  })
  const clickByConversion = new Map(rows.map(({ id, click_id }) => [id, clicks.get(click_id ?? '')]))
  await transaction(platform, async (platform) => {
    const saved = await saveClickFacts(platform.db, found)
    await saveCustomerCountries(platform, customerCountries(saved, clickByConversion))
    for (const [workspaceId, mine] of Map.groupBy(saved, (row) => row.workspace_id)) {
      const body = { workspaceId, conversionIds: mine.map(({ id }) => id) }
      const partition = hashPartition(workspaceId, platform.config.EVENT_PARTITIONS)
      await publish({ db: platform.db, workspaceId }, clickFactsMessage(body, partition))
    }
  })
}

/** The customers' countries, sorted by customer id so that two workers that update the same rows can't deadlock. */
function customerCountries(
  rows: Pick<ConversionRow, 'id' | 'customer_id'>[],
  clicks: Map<string, StoredClick | undefined>,
): { id: string; country: string }[] {
  const countries = new Map(rows.map(({ id, customer_id }) => [customer_id, clicks.get(id)?.country ?? '']))
  const isCountry = (country: string) => /^[A-Z]{2}$/.test(country)
  return [...countries]
    .flatMap(([id, country]) => (isCountry(country) ? [{ id, country }] : []))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/**
 * Loads the clicks of leads and sales, by click id. Queries ClickHouse only for rows that an earlier release stored
 * without click facts.
 */
export async function loadClicks(
  platform: Pick<Platform, 'clickhouse'>,
  rows: ConversionRow[],
): Promise<Map<string, StoredClick>> {
  const clicks = await readClicks(
    platform,
    rows.filter(({ click_facts_at }) => click_facts_at === null),
  )
  for (const { click_id, click_facts } of rows) {
    if (click_id !== null && click_facts !== null) clicks.set(click_id, JSON.parse(click_facts))
  }
  return clicks
}

async function readClicks(
  platform: Pick<Platform, 'clickhouse'>,
  rows: Pick<ConversionRow, 'workspace_id' | 'click_id'>[],
): Promise<Map<string, StoredClick>> {
  const named = new Map(
    rows.flatMap(({ workspace_id, click_id }) => (click_id === null ? [] : [[click_id, { workspace_id, click_id }]])),
  )
  const clicks = new Map<string, StoredClick>()
  for (const part of chunks([...named.values()], clicksAtOnce))
    for (const click of await clicksById(platform, part)) clicks.set(click.id_text, click)
  return clicks
}

const clicksAtOnce = 50
