import { z } from 'zod'

/** Partners that one transaction changed; subscribers read them from PostgreSQL. */
export const partnersUpdated = z.object({
  workspaceId: z.string(),
  events: z.array(z.object({ id: z.string(), createdAt: z.string(), partnerNumber: z.string() })),
})
export type PartnersUpdated = z.infer<typeof partnersUpdated>

export const partnersUpdatedSubject = 'changes.*.partner-updates'

export function partnersUpdatedMessage(body: PartnersUpdated, partition: number) {
  return { subject: `changes.${partition}.partner-updates`, body }
}
