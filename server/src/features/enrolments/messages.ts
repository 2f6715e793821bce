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
