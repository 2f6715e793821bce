import { z } from 'zod'

export const domainChanged = z.object({
  workspaceId: z.string(),
  slug: z.string(),
  /** The workspace no longer has it, nor any link on it. */
  deleted: z.boolean(),
  /** The domain's new name; its links move there. */
  renamedTo: z.string().optional(),
  /** The database's time. A link created later is on a domain that got this name again. */
  at: z.iso.datetime().optional(),
})
export type DomainChanged = z.infer<typeof domainChanged>

export const domainChangedSubject = 'changes.*.domains'

export function domainChangedMessage(body: DomainChanged, partition: number) {
  return { subject: `changes.${partition}.domains`, body }
}
