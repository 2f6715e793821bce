import type { AnalyticsCount, AnalyticsRow } from '@tributary/contract/analytics'
import { boundedSum } from '@tributary/contract/common'
import type { Ctx } from '../../platform/context.ts'
import { foldersByIds } from '../folders/service.ts'
import { linksByNumber } from '../links/service.ts'
import { tagsByIds } from '../tags/service.ts'
import type { Bucket } from './buckets.ts'
import { groupingColumns } from './groupings.ts'
import type { Group } from './store.ts'

type Listed = Exclude<keyof typeof groupingColumns, 'count' | 'timeseries'>

export function presentCount(group: Group | undefined, visitors = false): AnalyticsCount {
  return {
    clicks: Number(group?.clicks ?? 0),
    leads: Number(group?.leads ?? 0),
    sales: Number(group?.sales ?? 0),
    saleAmount: boundedSum(group?.saleAmount ?? 0),
    ...(visitors && { visitors: Number(group?.visitors ?? 0) }),
  }
}

/** Builds a time series with a row for every bucket, even an empty one. */
export function presentSeries(buckets: Bucket[], groups: Group[], visitors: boolean): AnalyticsRow[] {
  const found = new Map(groups.map((group) => [Number(group.keys[0]), group]))
  return buckets.map(({ second, start }) => ({ start, ...presentCount(found.get(second), visitors) }))
}

export async function presentGroups(ctx: Ctx, groupBy: Listed, groups: Group[]): Promise<AnalyticsRow[]> {
  switch (groupBy) {
    case 'top_links':
      return presentLinks(ctx, groups)
    case 'top_domains':
      return groups.map((group) => ({ domain: groupKey(group), ...presentCount(group) }))
    case 'top_folders': {
      const folders = await foldersByIds(ctx, groups.map(groupKey).filter(Boolean))
      return groups.map((group) => {
        const { id, name, accessLevel } = folders.get(groupKey(group)) ?? {}
        const folder = id === undefined ? null : { id, name, accessLevel }
        return { folderId: groupKey(group) || null, folder, ...presentCount(group) }
      })
    }
    case 'top_link_tags': {
      const tags = await tagsByIds(ctx, groups.map(groupKey).filter(Boolean))
      return groups.map((group) => {
        const tag = tags.get(groupKey(group)) ?? null
        return { tagId: groupKey(group) || null, tag, ...presentCount(group) }
      })
    }
    case 'top_partners':
      return groups
        .filter(groupKey)
        .map((group) => ({ partnerId: groupKey(group), partner: null, ...presentCount(group) }))
    default:
      return presentValues(groupBy, groups)
  }
}

function presentValues(groupBy: Listed, groups: Group[]): AnalyticsRow[] {
  const { keys, wholes, closed } = groupingColumns[groupBy]
  const names = Object.values(keys)
  const shown = closed ? groups.filter((group) => closed.includes(groupKey(group))) : groups
  return shown.map((group) => ({
    ...wholes,
    ...Object.fromEntries(names.map((name, index) => [name, group.keys[index] ?? ''])),
    ...presentCount(group),
  }))
}

/** Builds the rows of `top_links`; omits leads and sales that belong to no link. */
async function presentLinks(ctx: Ctx, groups: Group[]): Promise<AnalyticsRow[]> {
  const links = await linksByNumber(
    ctx,
    groups.map((group) => BigInt(groupKey(group))),
  )
  return groups.flatMap((group) => {
    const link = links.get(BigInt(groupKey(group)))
    if (!link) return []
    const { id, domain, key, shortLink, url, title, comments, folderId, partnerId, createdAt } = link
    const named = { link: id, id, domain, key, shortLink, url, title, comments, folderId, partnerId, createdAt }
    return [{ ...named, ...presentCount(group) }]
  })
}

function groupKey(group: Group): string {
  return group.keys[0] ?? ''
}
