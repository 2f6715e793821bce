import type { Link } from '@tributary/contract/links'
import { z } from 'zod'

const address = z.object({ domain: z.string(), lookupKey: z.string() })

export const linkChanged = address.extend({
  workspaceId: z.string(),
  linkNumber: z.string(),
  /** Processes of an earlier release do not send these two. */
  id: z.string().optional(),
  key: z.string().optional(),
  /** The address it had before, when it moved. */
  former: address.optional(),
  isRoot: z.boolean(),
  folderId: z.string(),
  tenantId: z.string(),
  partnerId: z.string(),
  tagIds: z.array(z.string()),
  deleted: z.boolean(),
  version: z.number(),
})
export type LinkChanged = z.infer<typeof linkChanged>

export const linkChangedSubject = 'changes.*.links'

export function linkChangedMessage(body: LinkChanged, partition: number) {
  return { subject: `changes.${partition}.links`, body }
}

const linkEvent = z.object({
  id: z.string(),
  event: z.enum(['link.created', 'link.updated', 'link.deleted']),
  createdAt: z.string(),
  linkNumber: z.string(),
  /** As it was then; one that is too large for a message is read when it is told. */
  link: z.custom<Link>((value) => typeof value === 'object' && value !== null).optional(),
})
export type LinkEvent = z.infer<typeof linkEvent>

/** What webhooks tell of links. */
export const linkEvents = z.object({ workspaceId: z.string(), events: z.array(linkEvent) })
export type LinkEvents = z.infer<typeof linkEvents>

export const linkEventsSubject = 'webhooks.*.links'

export function linkEventsMessage(body: LinkEvents, partition: number) {
  return { subject: `webhooks.${partition}.links`, body }
}
