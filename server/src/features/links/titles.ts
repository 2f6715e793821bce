import type { Link } from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { canReadFolder, knownFolderIds } from '../folders/service.ts'
import { buildShortLink } from './present.ts'
import { selectLinkTitles } from './titles-store.ts'

export type LinkTitle = Pick<
  Link,
  'id' | 'domain' | 'key' | 'shortLink' | 'url' | 'title' | 'comments' | 'folderId' | 'partnerId' | 'createdAt'
>

/** What a list of many links shows of each, by link number; includes deleted links. */
export async function readTitles(ctx: Ctx, numbers: bigint[]): Promise<Map<string, LinkTitle>> {
  const found = await selectLinkTitles(ctx.db, ctx.workspaceId, numbers)
  const rows = found.filter((row) => canReadFolder(ctx, row.folder_id))
  const folders = await knownFolderIds(ctx, [...new Set(rows.flatMap((row) => row.folder_id ?? []))])
  const titles = rows.map(({ number, folder_id, partner_id, created_at, ...row }): [string, LinkTitle] => {
    const folderId = folder_id !== null && folders.has(folder_id) ? folder_id : null
    const times = { partnerId: partner_id, createdAt: created_at.toISOString() }
    return [String(number), { ...row, shortLink: buildShortLink(row), folderId, ...times }]
  })
  return new Map(titles)
}
