import type { Ctx } from '../../platform/context.ts'
import type { NewLead } from '../event-storage/service.ts'
import type { LeadRecord, SaleRecord } from '../events/service.ts'
import { loadClicks } from './click-facts.ts'
import { rowsOf } from './rows.ts'
import { type ConversionKind, selectConversions } from './store.ts'

/** A lead, sale or refund as its event shows it. Without settled click facts, place and device are unknown so far. */
export type RecordedConversion = { id: string; hasClickFacts: boolean } & (
  | { kind: 'lead'; row: LeadRecord }
  | { kind: Exclude<ConversionKind, 'lead'>; row: SaleRecord }
)

/** Reads leads, sales and refunds of links from PostgreSQL. */
export async function readConversions(ctx: Ctx, ids: string[]): Promise<RecordedConversion[]> {
  const conversions = await selectConversions(ctx.db, ctx.workspaceId, ids)
  const known = conversions.filter(({ click_facts_at, stored_at }) => click_facts_at !== null || stored_at !== null)
  const clicks = await loadClicks(ctx, known)
  return conversions.map((conversion) => {
    const { leads, sales } = rowsOf([conversion], clicks)
    const { id, kind } = conversion
    const hasClickFacts = known.includes(conversion)
    if (kind === 'lead') return { id, kind, hasClickFacts, row: presentTimes(leads[0] as NewLead) }
    return { id, kind, hasClickFacts, row: presentTimes(sales[0] as NonNullable<(typeof sales)[0]>) }
  })
}

function presentTimes<Row extends NewLead>(row: Row) {
  const [timestamp, click_timestamp] = [row.timestamp, row.click_timestamp].map((at) => new Date(at).toISOString())
  return { ...row, timestamp: timestamp as string, click_timestamp: click_timestamp as string }
}
