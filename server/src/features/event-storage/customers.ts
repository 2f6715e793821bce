import { chunks } from '../../platform/batches.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import {
  type ClickSelection,
  type ConversionClickRow,
  eraseAddresses,
  eraseCustomerRows,
  existsAddress,
  existsCustomerRow,
  selectClicks,
  selectConversionClicks,
  type WholeClickRow,
} from './customers-store.ts'

/** A click id with the hour of its click in Unix milliseconds; null when the key of the id is unknown. */
export type LocatedClick = { id: string; at: number | null }
type Reading = Pick<Ctx, 'clickhouse' | 'workspaceId'>
type Erasing = Pick<Platform, 'clickhouse' | 'config'>

// ClickHouse query parameters are part of the URL, whose length servers limit.
const namedAtOnce = 100
// A click id belongs to one hour, and the click's time may be an hour off.
const marginMs = 3 * 3_600_000
/** Other texts name no stored click. */
const clickIdText = /^[A-Za-z0-9_-]{40}$/
const lastMs = Date.parse('2200-01-01')

/** Reads stored clicks. The row of a person comes after that of a bot with the same id. */
export async function readClicks(ctx: Reading, clicks: LocatedClick[]): Promise<WholeClickRow[]> {
  const rows: WholeClickRow[] = []
  for (const selection of selectParts(clicks))
    rows.push(...(await selectClicks(ctx.clickhouse, ctx.workspaceId, selection)))
  return rows
}

/** Reads what stored leads, sales and refunds have of their clicks, by id. */
export async function readConversionClicks(
  { clickhouse, workspaceId }: Reading,
  named: { id: string; at: number }[],
): Promise<Map<string, ConversionClickRow>> {
  const found = new Map<string, ConversionClickRow>()
  for (const some of chunks(named, namedAtOnce)) {
    const values = { workspaceId, ids: some.map(({ id }) => id), moments: some.map(({ at }) => at) }
    for (const row of await selectConversionClicks(clickhouse, values)) found.set(row.id, row)
  }
  return found
}

export async function eraseRowsOfCustomers(
  { clickhouse, config }: Erasing,
  workspaceId: string,
  customerIds: string[],
): Promise<void> {
  for (const part of chunks(customerIds, namedAtOnce))
    await eraseCustomerRows(clickhouse, config.CLICKHOUSE_CLUSTER, { workspaceId, customerIds: part })
}

export async function eraseClickAddresses(
  { clickhouse, config }: Erasing,
  workspaceId: string,
  clicks: LocatedClick[],
): Promise<void> {
  for (const selection of selectParts(clicks))
    await eraseAddresses(clickhouse, config.CLICKHOUSE_CLUSTER, workspaceId, selection)
}

/** Whether ClickHouse has metadata or addresses of a customer. */
export async function isCustomerStored(ctx: Reading, customerId: string, clicks: LocatedClick[]): Promise<boolean> {
  if (await existsCustomerRow(ctx.clickhouse, ctx.workspaceId, customerId)) return true
  for (const selection of selectParts(clicks))
    if (await existsAddress(ctx.clickhouse, ctx.workspaceId, selection)) return true
  return false
}

function selectParts(clicks: LocatedClick[]): ClickSelection[] {
  const valid = clicks.filter(({ id }) => clickIdText.test(id))
  const sorted = valid.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
  return [...chunks(sorted, namedAtOnce)].map((some) => ({
    ids: some.map(({ id }) => id),
    from: Math.max(0, Math.min(...some.map(({ at }) => at ?? 0)) - marginMs),
    to: Math.max(...some.map(({ at }) => (at === null ? lastMs : at + marginMs))),
  }))
}
