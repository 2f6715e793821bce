import type { Link } from '@tributary/contract/links'
import { z } from 'zod'

const address = z.object({ domain: z.string(), lookupKey: z.string() })

const linkEvent = z.object({
  id: z.string(),
  type: z.enum(['link.created', 'link.updated', 'link.deleted']),
  createdAt: z.string(),
  /** The link at that time, without its password. Subscribers read a link that is too large for a message. */
  link: z.custom<Link>((value) => typeof value === 'object' && value !== null).optional(),
})
export type LinkEvent = z.infer<typeof linkEvent>

export const linkChanged = address.extend({
  workspaceId: z.string(),
  linkNumber: z.string(),
  /** Processes of an earlier release do not send these two. */
  id: z.string().optional(),
  key: z.string().optional(),
  /** The previous address of a moved link. */
  former: address.optional(),
  isRoot: z.boolean(),
  folderId: z.string(),
  tenantId: z.string(),
  partnerId: z.string(),
  tagIds: z.array(z.string()),
  deleted: z.boolean(),
  version: z.number(),
  /** Absent when the link itself did not change, and only its copies are updated. */
  event: linkEvent.optional(),
})
export type LinkChanged = z.infer<typeof linkChanged>

export const linkChangedSubject = 'changes.*.links'

export function linkChangedMessage(body: LinkChanged, partition: number) {
  return { subject: `changes.${partition}.links`, body }
}
