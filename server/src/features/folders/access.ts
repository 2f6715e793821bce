import type { FolderAccess } from '../../platform/context.ts'

/** Whether a caller may read what is in a folder. Nothing restricts what is in no folder. */
export function isReadable(access: FolderAccess | undefined, folderId: string | null | undefined): boolean {
  return !folderId || !access?.hidden.includes(folderId)
}

/** Whether a caller may change what is in a folder, or the folder: `hidden` looks like a folder that does not exist. */
export function judgeWrite(
  access: FolderAccess | undefined,
  folderId: string | null | undefined,
): 'allowed' | 'hidden' | 'readOnly' {
  if (!isReadable(access, folderId)) return 'hidden'
  return folderId && access?.readOnly.includes(folderId) ? 'readOnly' : 'allowed'
}
