import type { WebhookData } from '@tributary/contract/webhooks'
import { z } from 'zod'

export const codeChanged = z.object({
  workspaceId: z.string(),
  id: z.string(),
  type: z.enum(['discount_code.created', 'discount_code.deleted']),
  createdAt: z.string(),
  /** The code at the time of the event. */
  code: z.custom<WebhookData['discount_code.created']>((value) => typeof value === 'object' && value !== null),
})
export type CodeChanged = z.infer<typeof codeChanged>

export const codeChangedSubject = 'changes.*.discount-codes'

export function codeChangedMessage(body: CodeChanged, partition: number) {
  return { subject: `changes.${partition}.discount-codes`, body }
}
