import { z } from 'zod'

export const linkChanged = z.object({
  workspaceId: z.string(),
  linkNumber: z.string(),
  domain: z.string(),
  lookupKey: z.string(),
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
