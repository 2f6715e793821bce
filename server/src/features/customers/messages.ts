import { z } from 'zod'

export const customerCreated = z.object({ workspaceId: z.string(), customerId: z.string(), createdAt: z.string() })
export type CustomerCreated = z.infer<typeof customerCreated>

export function customerCreatedMessage(body: CustomerCreated, partition: number) {
  return { subject: `changes.${partition}.customers`, body }
}

export const customerErased = z.object({ workspaceId: z.string(), customerId: z.string() })
export type CustomerErased = z.infer<typeof customerErased>

export const customerErasedSubject = 'changes.*.customer-erased'

/** Ids only, because the log outlives the erasure. */
export function customerErasedMessage(body: CustomerErased, partition: number) {
  return { subject: `changes.${partition}.customer-erased`, body }
}
