import type { Link } from '@tributary/contract/links'
import { z } from 'zod'

const address = z.object({ domain: z.string(), lookupKey: z.string() })

const linkEvent = z.object({
  id: z.string(),
  type: z.enum(['link.created', 'link.updated', 'link.deleted']),
  createdAt: z.string(),
  /** The link at the time of the event, without its password; absent when too large: subscribers then read the link. */
  link: z.custom<Link>((value) => typeof value === 'object' && value !== null).optional(),
})
export type LinkEvent = z.infer<typeof linkEvent>

export const linkChanged = address.extend({
  workspaceId: z.string(),
  linkNumber: z.string(),
  /** `id` and `key` are absent in messages from processes of an earlier release. */
  id: z.string().optional(),
  key: z.string().optional(),
  /** The previous domain and key of a moved link. */
  former: address.optional(),
  isRoot: z.boolean(),
  folderId: z.string(),
  tenantId: z.string(),
  partnerId: z.string(),
  tagIds: z.array(z.string()),
  deleted: z.boolean(),
  version: z.number(),
  /** What happened to the link; absent when the message only refreshes copies of it. */
  event: linkEvent.optional(),
})
export type LinkChanged = z.infer<typeof linkChanged>

export const linkChangedSubject = 'changes.*.links'

export function linkChangedSubjectIn(partition: number): string {
  return `changes.${partition}.links`
}

export function linkChangedMessage(body: LinkChanged, partition: number) {
  return { subject: linkChangedSubjectIn(partition), body }
}
