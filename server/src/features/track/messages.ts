import { z } from 'zod'

/**
 * The message about a lead, sale or refund, published in the transaction that records it. It has no personal data,
 * because NATS can't erase a person's data; subscribers read everything else from PostgreSQL.
 */
export const conversionRecorded = z.object({
  id: z.string(),
  workspaceId: z.string(),
  kind: z.enum(['lead', 'sale', 'refund']),
  customerId: z.string(),
  linkNumber: z.string().nullable(),
  partnerId: z.string().nullable(),
  clickId: z.string().nullable(),
  quantity: z.number(),
  /** The amount in the smallest unit of the currency; negative for a refund. */
  amount: z.number(),
  currency: z.string().nullable(),
  /** The number of the sale that a refund belongs to. */
  saleNumber: z.string().nullable(),
  recordedAt: z.string(),
})
export type ConversionRecorded = z.infer<typeof conversionRecorded>

const nouns = { lead: 'leads', sale: 'sales', refund: 'refunds' } as const

export const conversionSubjects = { lead: 'changes.*.leads', sale: 'changes.*.sales', refund: 'changes.*.refunds' }

export function conversionSubjectIn(partition: number, kind: ConversionRecorded['kind']): string {
  return `changes.${partition}.${nouns[kind]}`
}

export function conversionRecordedMessage(body: ConversionRecorded, partition: number) {
  return { subject: conversionSubjectIn(partition, body.kind), body }
}

/** The message that the click facts of these leads and sales are in PostgreSQL, or that their click is lost. */
export const clickFactsResolved = z.object({ workspaceId: z.string(), conversionIds: z.array(z.string()) })
export type ClickFactsResolved = z.infer<typeof clickFactsResolved>

export const clickFactsSubject = 'changes.*.click-facts'

export function clickFactsMessage(body: ClickFactsResolved, partition: number) {
  return { subject: `changes.${partition}.click-facts`, body }
}
