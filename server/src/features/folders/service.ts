import type { Folder, FolderPatch, FoldersQuery, NewFolder } from '@tributary/contract/folders'
import { type Ctx, findUserId, hasScope, type Platform } from '../../platform/context.ts'
import { conflict, forbidden, notFound } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireRoom } from '../workspaces/service.ts'
import { isReadable, judgeWrite } from './access.ts'
import { type FolderDeleted, folderDeletedMessage } from './messages.ts'
import {
  countFolders,
  deleteFolderRow,
  existingFolder,
  type FolderChanges,
  type FolderRow,
  insertFolder,
  selectFolder,
  selectFolders,
  selectFoldersByIds,
  selectMissingFolders,
  selectRestrictedFolders,
  updateFolderRow,
} from './store.ts'

export async function listFolders(ctx: Ctx, query: FoldersQuery): Promise<Folder[]> {
  const rows = await selectFolders(ctx.db, ctx.workspaceId, {
    search: query.search?.trim().normalize('NFC'),
    hidden: hiddenFolders(ctx),
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map(presentFolder)
}

export async function createFolder(ctx: Ctx, input: NewFolder): Promise<Folder> {
  const row = await transaction(ctx, async (ctx) => {
    await requireRoom(ctx, 'folders', () => countFolders(ctx.db, ctx.workspaceId))
    return insertFolder(ctx.db, {
      id: newId('fold'),
      workspace_id: ctx.workspaceId,
      name: input.name,
      description: input.description ?? null,
      access_level: input.accessLevel,
    })
  })
  if (!row) throw nameTaken(input.name)
  return presentFolder(row)
}

export async function updateFolder(ctx: Ctx, id: string, patch: FolderPatch): Promise<Folder> {
  requireFolderWrite(ctx, id)
  const row = await selectFolder(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('folder', id)
  const changes = changesTo(row, patch)
  if (changes.access_level !== undefined) requireAccessChange(ctx)
  reportChange(ctx, { id, before: row, after: changes })
  if (Object.keys(changes).length === 0) return presentFolder(row)
  const updated = await updateFolderRow(ctx.db, ctx.workspaceId, id, changes).catch((error) => {
    throw changes.name !== undefined && violatedConstraint(error) === 'folders_name' ? nameTaken(changes.name) : error
  })
  if (!updated) throw notFound('folder', id)
  return presentFolder(updated)
}

/** Throws 403 for a member: who sees a folder is decided by those who decide about members. */
function requireAccessChange({ actor }: Pick<Ctx, 'actor'>): void {
  if (findUserId(actor) === undefined || hasScope(actor, 'workspaces.write')) return
  throw forbidden('Only owners and admins change the `accessLevel` of a folder. Ask one of them.')
}

/** Deletes a folder; its links stay. The worker updates the links and event filters when it handles the message. */
export async function deleteFolder(ctx: Ctx, id: string): Promise<{ id: string }> {
  requireFolderWrite(ctx, id)
  await transaction(ctx, async (ctx) => {
    if (!(await deleteFolderRow(ctx.db, ctx.workspaceId, id))) throw notFound('folder', id)
    const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
    await publish(ctx, folderDeletedMessage({ workspaceId: ctx.workspaceId, folderId: id }, partition))
  })
  return { id }
}

type Reader = Pick<Ctx, 'folderAccess'>

/** The folders that the caller may not read; empty for callers without restrictions. */
export function hiddenFolders({ folderAccess }: Reader): string[] {
  return folderAccess?.hidden ?? []
}

/** Whether the caller may read what is in the folder. */
export function canReadFolder({ folderAccess }: Reader, id: string | null | undefined): boolean {
  return isReadable(folderAccess, id)
}

/** Throws 404 for a folder that the caller may not read, and 403 for one that the caller may only read. */
export function requireFolderWrite({ folderAccess }: Reader, id: string | null | undefined): void {
  const judgement = judgeWrite(folderAccess, id)
  if (judgement === 'hidden') throw notFound('folder', id ?? '')
  if (judgement === 'readOnly')
    throw forbidden(`You may read the folder ${id}, but not change it or its links. Ask an owner of the workspace.`)
}

/**
 * Throws when the folder does not exist or the caller may not change it. In a transaction, locks its row against deletion
 * until it ends.
 */
export async function requireFolder(ctx: Ctx, id: string): Promise<void> {
  requireFolderWrite(ctx, id)
  if (!(await selectFolder(ctx.db, ctx.workspaceId, id))) throw notFound('folder', id)
}

/** The SQL condition that a folder, if any, exists; the columns are SQL, too. */
export function folderCondition(columns: Record<'workspace' | 'id', string>): string {
  return existingFolder(columns)
}

export async function isFolder(platform: Pick<Platform, 'db'>, workspaceId: string, id: string): Promise<boolean> {
  return (await selectFolder(platform.db, workspaceId, id)) !== undefined
}

/** Returns those of the given ids that are folders of the workspace and that the caller may read. */
export async function knownFolderIds(ctx: Ctx, ids: string[]): Promise<Set<string>> {
  return new Set((await foldersByIds(ctx, ids)).keys())
}

export async function foldersByIds(ctx: Ctx, ids: string[]): Promise<Map<string, Folder>> {
  const readable = ids.filter((id) => canReadFolder(ctx, id))
  if (readable.length === 0) return new Map()
  const rows = await selectFoldersByIds(ctx.db, ctx.workspaceId, readable)
  return new Map(rows.map((row) => [row.id, presentFolder(row)]))
}

/** Folders whose access level lets members only read, or gives them no access. */
export async function restrictedFolders(
  platform: Pick<Platform, 'db'>,
  workspaceId: string,
): Promise<Pick<Folder, 'id' | 'accessLevel'>[]> {
  const rows = await selectRestrictedFolders(platform.db, workspaceId)
  return rows.map(({ id, access_level }) => ({ id, accessLevel: access_level }))
}

export function folderCount(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return countFolders(ctx.db, ctx.workspaceId)
}

/** Returns those of the given folders, of any workspace, that are deleted. */
export async function deletedFolders(platform: Pick<Platform, 'db'>, named: FolderDeleted[]): Promise<FolderDeleted[]> {
  return named.length === 0 ? [] : selectMissingFolders(platform.db, named)
}

/** The columns whose value the patch changes. */
function changesTo(row: FolderRow, patch: FolderPatch): FolderChanges {
  const changes = { name: patch.name, description: patch.description, access_level: patch.accessLevel }
  const changed = Object.entries(changes).filter(
    ([column, value]) => value !== undefined && value !== row[column as keyof FolderChanges],
  )
  return Object.fromEntries(changed)
}

function nameTaken(name: string) {
  return conflict(`Another folder already has the name ${name}. Choose another name.`)
}

function presentFolder(row: FolderRow): Folder {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type,
    accessLevel: row.access_level,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
