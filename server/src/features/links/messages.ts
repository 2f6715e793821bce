import { z } from 'zod'

const address = z.object({ domain: z.string(), lookupKey: z.string() })

export const linkChanged = address.extend({
  workspaceId: z.string(),
  linkNumber: z.string(),
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
