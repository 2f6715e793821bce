import type { WebhookData } from '@tributary/contract/webhooks'
import { z } from 'zod'

/** An e-mail to a partner, with an encrypted token. */
export const partnerEmail = z.object({
  workspaceId: z.string(),
  partnerId: z.string(),
  kind: z.enum(['invite', 'confirm']),
  /** The token in base64, sealed for the partner's id. */
  sealedToken: z.string(),
  acceptUrl: z.string().optional(),
})
export type PartnerEmail = z.infer<typeof partnerEmail>

export const partnerEmailSubject = 'changes.*.partner-emails'

export function partnerEmailMessage(body: PartnerEmail, partition: number) {
  return { subject: `changes.${partition}.partner-emails`, body }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null
const happened = <Type extends keyof WebhookData>(type: Type) =>
  z.object({
    id: z.string(),
    event: z.literal(type),
    createdAt: z.string(),
    /** The partner at the time of the event. */
    data: z.custom<WebhookData[Type]>(isObject),
  })

export const partnerChanged = z.object({
  workspaceId: z.string(),
  event: z.union([happened('partner.enrolled'), happened('partner.application_submitted'), happened('partner.merged')]),
})
export type PartnerChanged = z.infer<typeof partnerChanged>

export const partnerChangedSubject = 'changes.*.partners'

export function partnerChangedMessage(body: PartnerChanged, partition: number) {
  return { subject: `changes.${partition}.partners`, body }
}
