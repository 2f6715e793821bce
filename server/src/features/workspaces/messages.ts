import { z } from 'zod'

export const workspaceDeleted = z.object({ workspaceId: z.string() })
export type WorkspaceDeleted = z.infer<typeof workspaceDeleted>

export const workspaceDeletedSubject = 'changes.*.workspaces'

export function workspaceDeletedMessage(body: WorkspaceDeleted, partition: number) {
  return { subject: `changes.${partition}.workspaces`, body }
}
