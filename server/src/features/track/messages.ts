import { z } from 'zod'

/** Ids only: the queue must not tell of a person. `at` in milliseconds finds them where they are stored. */
export const conversionsStored = z.object({
  workspaceId: z.string(),
  kind: z.enum(['lead', 'sale', 'refund']),
  conversions: z.array(z.object({ id: z.string(), at: z.number() })),
})
export type ConversionsStored = z.infer<typeof conversionsStored>

export const conversionsStoredSubject = 'webhooks.*.conversions'

export function conversionsStoredMessage(body: ConversionsStored, partition: number) {
  return { subject: `webhooks.${partition}.conversions`, body }
}
