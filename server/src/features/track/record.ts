import type { Ctx } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { type ConversionRecorded, conversionRecordedMessage } from './messages.ts'
import { type ConversionRow, insertConversion, type NewConversion } from './store.ts'

/** Records a lead, sale or refund and publishes it. Undefined when the lead, invoice or refund exists already. */
export async function recordConversion(ctx: Ctx, row: NewConversion): Promise<ConversionRow | undefined> {
  const recorded = await insertConversion(ctx.db, row)
  if (!recorded) return undefined
  const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
  await publish(ctx, conversionRecordedMessage(describeConversion(recorded), partition))
  return recorded
}

function describeConversion(row: ConversionRow): ConversionRecorded {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    kind: row.kind,
    customerId: row.customer_id,
    linkNumber: row.link_number === null ? null : String(row.link_number),
    partnerId: row.partner_id,
    clickId: row.click_id,
    quantity: row.quantity,
    amount: Number(row.amount),
    currency: row.currency,
    saleNumber: row.sale_number === null ? null : String(row.sale_number),
    recordedAt: row.created_at.toISOString(),
  }
}
