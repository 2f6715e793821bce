import type {
  Link,
  LinkGroup,
  LinkGroupsQuery,
  LinkSelector as LinkSelectorQuery,
  LinksCountQuery,
  LinksQuery,
} from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { hiddenFolders } from '../folders/service.ts'
import { tagIdsByNames } from '../tags/service.ts'
import { findLink } from './access.ts'
import { lookupKey } from './key.ts'
import { matchingFragment } from './many-store.ts'
import { presentAll } from './present.ts'
import { parseExternalId, parseLinkName } from './settings.ts'
import { type LinkSelector, selectLinks, selectNumbersById } from './store.ts'
import { countFiltered, groupFiltered } from './totals.ts'
import type { LinkFilter } from './where.ts'

export async function getLink(ctx: Ctx, query: LinkSelectorQuery): Promise<Link> {
  const [selector, name] = namedBy(query)
  const row = await findLink(ctx, selector)
  if (!row) throw notFound('link', name)
  return (await presentAll(ctx, [row]))[0] as Link
}

export async function listLinks(ctx: Ctx, query: LinksQuery): Promise<Link[]> {
  if (query.startingAfter && query.endingBefore) {
    throw invalid('`startingAfter` and `endingBefore` in the query must not be used together.')
  }
  const backwards = query.endingBefore !== undefined
  const cursor = query.startingAfter ?? query.endingBefore
  const rows = await selectLinks(ctx.db, ctx.workspaceId, await buildFilter(ctx, query), {
    sort: query.sort ?? query.sortBy,
    ascending: (query.sortOrder === 'asc') !== backwards,
    after: cursor === undefined ? undefined : await findLinkNumber(ctx, cursor),
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return presentAll(ctx, backwards ? rows.reverse() : rows)
}

export async function countLinks(ctx: Ctx, query: LinksCountQuery): Promise<number> {
  return countFiltered(ctx, await buildFilter(ctx, query))
}

export async function groupLinks(ctx: Ctx, query: LinkGroupsQuery): Promise<LinkGroup[]> {
  return groupFiltered(ctx, await buildFilter(ctx, query), query)
}

function namedBy(query: LinkSelectorQuery): [LinkSelector, string] {
  if (query.linkId) return [parseLinkName(query.linkId), query.linkId]
  if (query.externalId) return [{ externalId: parseExternalId(query.externalId) }, query.externalId]
  if (query.domain && query.key) {
    const address = { domain: query.domain.toLowerCase(), lookupKey: lookupKey(query.key) }
    return [address, `${query.domain}/${query.key}`]
  }
  throw invalid('The query must have `linkId`, or `externalId`, or `domain` and `key`.')
}

async function findLinkNumber(ctx: Ctx, id: string): Promise<bigint> {
  const [number] = await selectNumbersById(ctx.db, ctx.workspaceId, [id], hiddenFolders(ctx))
  if (number === undefined) throw notFound('link', id)
  return number
}

/** SQL that selects the numbers of the links that match; `linkIds` narrows it to links with these ids. */
export async function selectMatching(ctx: Ctx, query: LinksCountQuery & { linkIds?: string[] }) {
  const filter = await buildFilter(ctx, query)
  return matchingFragment(ctx.workspaceId, { ...filter, ids: query.linkIds })
}

async function buildFilter(ctx: Ctx, query: Omit<LinksCountQuery, 'groupBy'>): Promise<LinkFilter> {
  const ids = query.tagIds ?? (query.tagId ? [query.tagId] : undefined)
  const named = !ids && query.tagNames ? (await tagIdsByNames(ctx, query.tagNames)).found : undefined
  return {
    domain: query.domain?.toLowerCase(),
    tagIds: ids ?? named,
    folderId: query.folderId === 'unsorted' ? null : query.folderId,
    hiddenFolders: hiddenFolders(ctx),
    search: query.search,
    userId: query.userId,
    partnerId: query.partnerId,
    tenantId: query.tenantId,
    state: query.state,
    start: query.start,
    end: query.end,
    archived: query.showArchived,
    tagged: query.withTags,
  }
}
