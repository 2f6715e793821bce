import type { EventAttribution } from '@tributary/contract/events'
import type { Ctx } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { clickKeys, readClickId } from '../click-ids/service.ts'
import { customerOrigins } from '../customers/service.ts'
import { hiddenLinkNumbers, linkTitles } from '../links/service.ts'
import { conversionSettings } from '../workspaces/service.ts'
import { neededDays, readReason } from './attribution.ts'
import { describeAttribution } from './attribution-text.ts'
import { selectUnattributedLead } from './record-store.ts'
import { type ConversionRow, selectConversions } from './store.ts'

/** Explains the attribution of a lead, sale or refund. The events of a lead with quantity n have the ids `id`, `id_2` … */
export async function explainAttribution(ctx: Ctx, eventId: string): Promise<EventAttribution> {
  const [row] = await selectConversions(ctx.db, ctx.workspaceId, [eventId.replace(/_\d+$/, '')])
  const isHidden = row?.link_number && (await hiddenLinkNumbers(ctx, [row.link_number])).size > 0
  if (!row || isHidden) throw notFound('lead or sale', eventId)
  const { model, windowDays } = await conversionSettings(ctx)
  const reason = readReason(row)
  const click = await describeClick(ctx, row)
  return {
    eventId,
    attributed: row.link_number !== null,
    reason,
    ...describeAttribution(reason, windowDays, click?.neededDays),
    click,
    attributionDays: windowDays,
    attributionModel: model,
  }
}

/** The click of an event; for one without a link, its customer's first click, the only one that is stored. */
async function describeClick(ctx: Ctx, row: ConversionRow): Promise<EventAttribution['click']> {
  const id = row.link_number === null ? await findFirstClick(ctx, row) : row.click_id
  const token = id ? readClickId(clickKeys(ctx.config), id) : null
  if (!id || !token || (await hiddenLinkNumbers(ctx, [token.linkNumber])).size > 0) return null
  const title = (await linkTitles(ctx, [token.linkNumber])).get(String(token.linkNumber))
  return {
    id,
    linkId: title?.id ?? null,
    clickedAt: new Date(token.hour * 3_600_000).toISOString(),
    neededDays: neededDays(token.hour, await findDecisionTime(ctx, row)),
  }
}

async function findFirstClick(ctx: Ctx, { customer_id }: ConversionRow): Promise<string | null> {
  const [customer] = await customerOrigins(ctx, [customer_id])
  return customer?.click_id ?? null
}

/** A sale without a link follows a lead without one, so the window was that of the lead. */
async function findDecisionTime(ctx: Ctx, row: ConversionRow): Promise<Date> {
  if (row.kind === 'lead' || row.link_number !== null) return row.created_at
  return (await selectUnattributedLead(ctx.db, ctx.workspaceId, row))?.created_at ?? row.created_at
}
