import type { LinkGroup, LinkGroupsQuery } from '@tributary/contract/links'
import type { Ctx, Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { countLinksBy, countLinks as countRows } from './store.ts'
import { foldChanges, sumTotals, sumTotalsBy, sumTotalsByTag } from './totals-store.ts'
import { type LinkFilter, totalsFilter } from './where.ts'

const foldedAtOnce = 10_000

/** Counts links from the stored totals where they have the filter's columns, else row by row. */
export function countFiltered(ctx: Ctx, filter: LinkFilter): Promise<number> {
  const stored = totalsFilter(filter)
  return stored ? sumTotals(ctx.db, ctx.workspaceId, stored) : countRows(ctx.db, ctx.workspaceId, filter)
}

type Groups = Pick<LinkGroupsQuery, 'groupBy' | 'sortOrder' | 'page' | 'pageSize'>

export async function groupFiltered(ctx: Ctx, filter: LinkFilter, query: Groups): Promise<LinkGroup[]> {
  const { groupBy, pageSize: count } = query
  const page = { ascending: query.sortOrder === 'asc', offset: (query.page - 1) * count, count }
  const groups = await selectGroups(ctx, filter, groupBy, page)
  return groups.map(({ group, count }) => ({ [groupBy]: group, count }) as LinkGroup)
}

function selectGroups(
  { db, workspaceId }: Ctx,
  filter: LinkFilter,
  groupBy: Groups['groupBy'],
  page: { ascending: boolean; offset: number; count: number },
) {
  const stored = totalsFilter(filter)
  // Totals have one tag each, so they can't tell the other tags of links with this tag.
  if (!stored || (groupBy === 'tagId' && stored.tagId !== undefined)) {
    return countLinksBy(db, workspaceId, filter, { ...page, groupBy })
  }
  if (groupBy === 'tagId') return sumTotalsByTag(db, workspaceId, stored, page)
  return sumTotalsBy(db, workspaceId, stored, { ...page, groupBy })
}

/** Adds recorded changes to the totals. Returns whether there are more. */
export async function foldTotals(platform: Pick<Platform, 'db'>): Promise<boolean> {
  return (await transaction(platform, ({ db }) => foldChanges(db, foldedAtOnce))) === foldedAtOnce
}
