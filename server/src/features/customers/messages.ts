import { z } from 'zod'

export const customerErased = z.object({ workspaceId: z.string(), customerId: z.string() })
export type CustomerErased = z.infer<typeof customerErased>

export const customerErasedSubject = 'changes.*.customer-erased'

/** Ids only: the log keeps it longer than the person may be known. */
export function customerErasedMessage(body: CustomerErased, partition: number) {
  return { subject: `changes.${partition}.customer-erased`, body }
}
