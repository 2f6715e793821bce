import type { Ctx } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { type ConversionRecorded, conversionRecordedMessage } from './messages.ts'
import { insertConversions } from './record-store.ts'
import type { ConversionRow, NewConversion } from './store.ts'

/** Records a lead, sale or refund and publishes it. Undefined when the lead, invoice or refund exists already. */
export async function recordConversion(ctx: Ctx, row: NewConversion): Promise<ConversionRow | undefined> {
  return (await recordConversions(ctx, [row]))[0]
}

/** Records leads, sales and refunds and publishes them. Returns those that did not exist already. */
export async function recordConversions(ctx: Ctx, rows: NewConversion[]): Promise<ConversionRow[]> {
  const recorded = await insertConversions(ctx.db, rows)
  if (recorded.length === 0) return []
  const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
  await publish(ctx, ...recorded.map((row) => conversionRecordedMessage(describeConversion(row), partition)))
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
