import { z } from 'zod'

export const domainChanged = z.object({
  workspaceId: z.string(),
  slug: z.string(),
  /** Whether the domain was deleted from the workspace, with all links on it. */
  deleted: z.boolean(),
  /** The domain's new name when it was renamed; its links move with it. */
  renamedTo: z.string().optional(),
  /** PostgreSQL's time of the change. Links created later belong to a domain that was added again with this name. */
  at: z.iso.datetime().optional(),
})
export type DomainChanged = z.infer<typeof domainChanged>

export const domainChangedSubject = 'changes.*.domains'

export function domainChangedMessage(body: DomainChanged, partition: number) {
  return { subject: `changes.${partition}.domains`, body }
}

/** Visitors no longer reach a domain that worked before. */
export const domainBroken = z.object({ workspaceId: z.string(), domainId: z.string(), since: z.iso.datetime() })
export type DomainBroken = z.infer<typeof domainBroken>

export const domainBrokenSubject = 'changes.*.domain-broken'

export function domainBrokenMessage(body: DomainBroken, partition: number) {
  return { subject: `changes.${partition}.domain-broken`, body }
}
