import { z } from 'zod'

export const webhookDisabled = z.object({
  workspaceId: z.string(),
  webhookId: z.string(),
  /** When it was disabled; absent in messages of earlier versions. */
  at: z.iso.datetime().optional(),
  reason: z.enum(['failing', 'gone']).default('failing'),
})
export type WebhookDisabled = z.input<typeof webhookDisabled>

export const webhookDisabledSubject = 'changes.*.webhook-disabled'

/** Published when a webhook was disabled because all its calls failed, or its receiver answered 410. */
export function webhookDisabledMessage(body: WebhookDisabled, partition: number) {
  return { subject: `changes.${partition}.webhook-disabled`, body }
}
