import { z } from 'zod'

export const tagDeleted = z.object({ workspaceId: z.string(), tagId: z.string() })
export type TagDeleted = z.infer<typeof tagDeleted>

export const tagDeletedSubject = 'changes.*.tags'

export function tagDeletedMessage(body: TagDeleted, partition: number) {
  return { subject: `changes.${partition}.tags`, body }
}
