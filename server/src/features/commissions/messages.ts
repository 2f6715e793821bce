import { z } from 'zod'

/** Events of commissions; subscribers read everything else from PostgreSQL. */
export const commissionEvent = z.object({
  /** Equal for every delivery of the event. */
  id: z.string(),
  createdAt: z.string(),
  event: z.enum(['commission.created', 'commission.updated']),
  commissionId: z.string(),
  partnerNumber: z.string(),
})
export type CommissionEvent = z.infer<typeof commissionEvent>

/** Commissions that one transaction created or changed. */
export const commissionsChanged = z.object({ workspaceId: z.string(), events: z.array(commissionEvent) })
export type CommissionsChanged = z.infer<typeof commissionsChanged>

export const commissionsSubject = 'changes.*.commissions'

export function commissionsMessage(body: CommissionsChanged, partition: number) {
  return { subject: `changes.${partition}.commissions`, body }
}
