import { z } from 'zod'

export const folderDeleted = z.object({ workspaceId: z.string(), folderId: z.string() })
export type FolderDeleted = z.infer<typeof folderDeleted>

export const folderDeletedSubject = 'changes.*.folders'

export function folderDeletedMessage(body: FolderDeleted, partition: number) {
  return { subject: `changes.${partition}.folders`, body }
}
