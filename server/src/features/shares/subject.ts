import type { NewShare, Share } from '@tributary/contract/shares'
import type { View } from '@tributary/contract/views'
import { type Ctx, findUserId, hasScope, requireScope } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { parseFilterValues, parsePeriod } from '../events/service.ts'
import { canReadFolder, foldersByIds, requireFolder, requireFolderWrite } from '../folders/service.ts'
import { linkNumbersByName, linkTitles, requireLinkAddress } from '../links/service.ts'
import { privateFolders } from '../members/service.ts'
import { viewsByIds } from '../views/service.ts'
import type { ShareRow, SubjectColumns } from './store.ts'
import { readViewQuery } from './view-query.ts'

type Subject = Pick<Share, 'viewId' | 'linkId' | 'folderId'>

/** Finds the one view, link or folder that a new share names. Throws unless the caller may publish its statistics. */
export async function requireSubject(ctx: Ctx, { viewId, linkId, folderId }: NewShare): Promise<SubjectColumns> {
  if ([viewId, linkId, folderId].filter((id) => id !== undefined).length !== 1) {
    throw invalid('The body must have one of `viewId`, `linkId` and `folderId`. Send exactly one of them.')
  }
  const none = { view_id: null, link_id: null, folder_id: null }
  requireScope(ctx.actor, 'analytics.read')
  if (viewId !== undefined) return { ...none, view_id: (await requireShareable(ctx, viewId)).id }
  requireScope(ctx.actor, 'links.write')
  if (linkId !== undefined) {
    return { ...none, link_id: (await requireLinkAddress(ctx, linkId, { isChange: true })).id }
  }
  const id = folderId as string
  await requireFolder(ctx, id)
  return { ...none, folder_id: id }
}

/** Throws unless the caller may publish what the share is of. */
export function requireSubjectWrite(ctx: Ctx, { subject, inFolder }: NamedShare): void {
  requireScope(ctx.actor, 'analytics.read')
  if (subject.viewId !== null) return
  requireScope(ctx.actor, 'links.write')
  requireFolderWrite(ctx, inFolder)
}

async function requireShareable(ctx: Ctx, viewId: string): Promise<View> {
  const view = (await viewsByIds(ctx, [viewId])).get(viewId)
  if (!view || !isOwn(ctx, view)) throw notFound('view', viewId)
  if (view.screen !== 'analytics') {
    throw invalid(`The view ${viewId} is of the screen \`${view.screen}\`. Share a view of the screen \`analytics\`.`)
  }
  const query = readViewQuery(view.query)
  if ('problem' in query) throw invalid(`The view ${viewId} ${query.problem}. Save a view without it.`)
  if ('start' in query.period || query.timezone) parsePeriod(ctx, { ...query.period, timezone: query.timezone })
  const folders = parseFilterValues('folderId', query.filter.folderId)
  const hidden = folders && !folders.excluded ? await privateFolders(ctx) : []
  // To a caller who may not read the folder, it looks as if it did not exist, and the page counts nothing of it.
  const named = hidden.find((id) => folders?.values.includes(id) && canReadFolder(ctx, id))
  if (named === undefined) return view
  throw invalid(
    `The view ${viewId} is of the folder ${named}, which not every member may read, so that a shared view leaves it out. Share the folder itself.`,
  )
}

/** Whether the caller sees the view: a shared one, or its own. */
function isOwn({ actor }: Ctx, view: View): boolean {
  return view.visibility === 'shared' || (view.userId !== null && view.userId === findUserId(actor))
}

/** `inFolder` is the shared folder, or the one of the shared link. */
export type NamedShare = { row: ShareRow; subject: Subject; name: string; inFolder: string | null }

/** Names what shares are of; omits those of links and folders that the caller may not read, and of others' personal views. */
export async function nameShares(ctx: Ctx, rows: ShareRow[]): Promise<NamedShare[]> {
  const [views, folders, links] = await Promise.all([
    viewsByIds(ctx, collect(rows, 'view_id')),
    foldersByIds(ctx, collect(rows, 'folder_id')),
    titlesById(ctx, collect(rows, 'link_id')),
  ])
  const seesAll = hasScope(ctx.actor, 'workspaces.write')
  return rows.flatMap((row) => {
    const { view_id: viewId, link_id: linkId, folder_id: folderId } = row
    const view = views.get(viewId ?? '')
    const shownView = view && (seesAll || isOwn(ctx, view)) ? view.name : undefined
    const link = links.get(linkId ?? '')
    const name = shownView ?? link?.shortLink ?? folders.get(folderId ?? '')?.name
    if (name === undefined) return []
    return [{ row, subject: { viewId, linkId, folderId }, name, inFolder: folderId ?? link?.folderId ?? null }]
  })
}

function collect(rows: ShareRow[], column: keyof SubjectColumns): string[] {
  return [...new Set(rows.flatMap((row) => row[column] ?? []))]
}

async function titlesById(ctx: Ctx, ids: string[]) {
  const numbers = ids.length === 0 ? [] : (await linkNumbersByName(ctx, ids)).map(({ number }) => number)
  const titles = await linkTitles(ctx, numbers)
  return new Map([...titles.values()].map((link) => [link.id, link]))
}
