import { z } from 'zod'

export const webhookDisabled = z.object({ workspaceId: z.string(), webhookId: z.string() })
export type WebhookDisabled = z.infer<typeof webhookDisabled>

export const webhookDisabledSubject = 'changes.*.webhook-disabled'

/** Published when a webhook was disabled because all its calls failed, so that the workspace gets an e-mail. */
export function webhookDisabledMessage(body: WebhookDisabled, partition: number) {
  return { subject: `changes.${partition}.webhook-disabled`, body }
}
