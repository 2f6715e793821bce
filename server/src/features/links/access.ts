import type { Ctx } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { canReadFolder, requireFolderWrite } from '../folders/service.ts'
import { selectDeletedLink } from './deleted-store.ts'
import { lockLinks } from './many-store.ts'
import { type LinkRow, type LinkSelector, selectLink, selectLinkForUpdate, selectLinksByNumber } from './store.ts'

/* Reads links for a caller. A link in a hidden folder looks as if it did not exist. */

export async function findLink(ctx: Ctx, selector: LinkSelector): Promise<LinkRow | undefined> {
  const row = await selectLink(ctx.db, ctx.workspaceId, selector)
  return row && canReadFolder(ctx, row.folder_id) ? row : undefined
}

/** Reads links by number, including deleted ones, or with `inUse` without deleted, archived and disabled ones. */
export async function findLinksByNumber(ctx: Ctx, numbers: bigint[], which?: 'inUse'): Promise<LinkRow[]> {
  const rows = await selectLinksByNumber(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  const isSought = (row: LinkRow) => which !== 'inUse' || !(row.deleted_at || row.archived || row.disabled_at)
  return rows.filter((row) => isSought(row) && canReadFolder(ctx, row.folder_id))
}

/** Reads a link that was deleted after `since`. */
export async function findDeletedLink(ctx: Ctx, id: string, since: Date): Promise<LinkRow | undefined> {
  const row = await selectDeletedLink(ctx.db, ctx.workspaceId, id, since)
  return row && canReadFolder(ctx, row.folder_id) ? row : undefined
}

/** Reads a link and locks its row until the transaction ends. */
async function findLinkForUpdate(ctx: Ctx, selector: LinkSelector): Promise<LinkRow | undefined> {
  const row = await selectLinkForUpdate(ctx.db, ctx.workspaceId, selector)
  return row && canReadFolder(ctx, row.folder_id) ? row : undefined
}

/** Reads and locks those of the links that are not deleted, in ascending order. */
export async function lockLinkRows(ctx: Ctx, numbers: bigint[]): Promise<LinkRow[]> {
  return findLinksByNumber(ctx, await lockLinks(ctx.db, ctx.workspaceId, numbers))
}

/** Locks a link that the caller may change. Throws 404 when it does not exist, and 403 when its folder is read-only. */
export async function requireLinkForUpdate(ctx: Ctx, selector: LinkSelector, name: string): Promise<LinkRow> {
  const link = await findLinkForUpdate(ctx, selector)
  if (!link) throw notFound('link', name)
  requireFolderWrite(ctx, link.folder_id)
  return link
}
