import { z } from 'zod'

export const domainChanged = z.object({
  workspaceId: z.string(),
  slug: z.string(),
  /** The workspace has it no longer, and no link on it. */
  deleted: z.boolean(),
  /** The same domain has this name now, and its links move there. */
  renamedTo: z.string().optional(),
  /** By the clock of the database. A link made later is on a domain that got this name again. */
  at: z.iso.datetime().optional(),
})
export type DomainChanged = z.infer<typeof domainChanged>

export const domainChangedSubject = 'changes.*.domains'

export function domainChangedMessage(body: DomainChanged, partition: number) {
  return { subject: `changes.${partition}.domains`, body }
}
