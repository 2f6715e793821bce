import type { LinkChange, LinkHistoryQuery } from '@tributary/contract/link-history'
import type { Ctx } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { changesOfObject } from '../audit/service.ts'
import { canReadFolder, hiddenFolders } from '../folders/service.ts'
import { findLink } from './access.ts'
import { findRestorable } from './deleted.ts'
import { parseLinkName } from './settings.ts'

/** Lists the changes of a link from the audit log. Callers with hidden folders see it since it left one of those. */
export async function listLinkHistory(ctx: Ctx, name: string, query: LinkHistoryQuery): Promise<LinkChange[]> {
  const link = (await findLink(ctx, parseLinkName(name))) ?? (await findRestorable(ctx, name))
  if (!link) throw notFound('link', name)
  const values = hiddenFolders(ctx)
  const changes = await changesOfObject(ctx, link.id, {
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
    ...(values.length > 0 && { hidden: { field: 'folderId', values } }),
  })
  return changes.map((change) => ({ ...change, before: hide(ctx, change.before), after: hide(ctx, change.after) }))
}

function hide(ctx: Ctx, fields: LinkChange['before']): LinkChange['before'] {
  const folderId = fields?.folderId
  if (typeof folderId !== 'string' || canReadFolder(ctx, folderId)) return fields
  return { ...fields, folderId: { redacted: 'hidden' } }
}
