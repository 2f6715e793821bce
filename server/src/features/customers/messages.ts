import { z } from 'zod'

export const customerCreated = z.object({ workspaceId: z.string(), customerId: z.string(), createdAt: z.string() })
export type CustomerCreated = z.infer<typeof customerCreated>

export function customerCreatedMessage(body: CustomerCreated, partition: number) {
  return { subject: `changes.${partition}.customers`, body }
}

export const customerErased = z.object({ workspaceId: z.string(), customerId: z.string() })
export type CustomerErased = z.infer<typeof customerErased>

export const customerErasedSubject = 'changes.*.customer-erased'

/** The message has only ids, because it stays in the log after the customer's data is erased. */
export function customerErasedMessage(body: CustomerErased, partition: number) {
  return { subject: `changes.${partition}.customer-erased`, body }
}
