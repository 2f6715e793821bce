import type { AnalyticsCount, AnalyticsRow } from '@tributary/contract/analytics'
import { boundedSum } from '@tributary/contract/common'
import type { Ctx } from '../../platform/context.ts'
import { foldersByIds } from '../folders/service.ts'
import { linksByNumber } from '../links/service.ts'
import { tagsByIds } from '../tags/service.ts'
import type { Bucket } from './buckets.ts'
import { groupsOf } from './groupings.ts'
import type { Group } from './store.ts'

type Listed = Exclude<keyof typeof groupsOf, 'count' | 'timeseries'>

export function presentCount(group: Group | undefined, visitors = false): AnalyticsCount {
  return {
    clicks: Number(group?.clicks ?? 0),
    leads: Number(group?.leads ?? 0),
    sales: Number(group?.sales ?? 0),
    saleAmount: boundedSum(group?.saleAmount ?? 0),
    ...(visitors && { visitors: Number(group?.visitors ?? 0) }),
  }
}

/** Every bucket has a row. */
export function presentSeries(buckets: Bucket[], groups: Group[], visitors: boolean): AnalyticsRow[] {
  const found = new Map(groups.map((group) => [Number(group.keys[0]), group]))
  return buckets.map(({ second, start }) => ({ start, ...presentCount(found.get(second), visitors) }))
}

export async function presentGroups(ctx: Ctx, groupBy: Listed, groups: Group[]): Promise<AnalyticsRow[]> {
  switch (groupBy) {
    case 'top_links':
      return presentLinks(ctx, groups)
    case 'top_domains':
      return groups.map((group) => ({ domain: keyOf(group), ...presentCount(group) }))
    case 'top_folders': {
      const folders = await foldersByIds(ctx, groups.map(keyOf).filter(Boolean))
      return groups.map((group) => {
        const { id, name, accessLevel } = folders.get(keyOf(group)) ?? {}
        const folder = id === undefined ? null : { id, name, accessLevel }
        return { folderId: keyOf(group) || null, folder, ...presentCount(group) }
      })
    }
    case 'top_link_tags': {
      const tags = await tagsByIds(ctx, groups.map(keyOf).filter(Boolean))
      return groups.map((group) => {
        const tag = tags.get(keyOf(group)) ?? null
        return { tagId: keyOf(group) || null, tag, ...presentCount(group) }
      })
    }
    case 'top_partners':
      return groups.filter(keyOf).map((group) => ({ partnerId: keyOf(group), partner: null, ...presentCount(group) }))
    default:
      return presentValues(groupBy, groups)
  }
}

function presentValues(groupBy: Listed, groups: Group[]): AnalyticsRow[] {
  const { keys, wholes, closed } = groupsOf[groupBy]
  const names = Object.values(keys)
  const shown = closed ? groups.filter((group) => closed.includes(keyOf(group))) : groups
  return shown.map((group) => ({
    ...wholes,
    ...Object.fromEntries(names.map((name, index) => [name, group.keys[index] ?? ''])),
    ...presentCount(group),
  }))
}

/** Leads and sales that no link brought have none to show. */
async function presentLinks(ctx: Ctx, groups: Group[]): Promise<AnalyticsRow[]> {
  const links = await linksByNumber(
    ctx,
    groups.map((group) => BigInt(keyOf(group))),
  )
  return groups.flatMap((group) => {
    const link = links.get(BigInt(keyOf(group)))
    if (!link) return []
    const { id, domain, key, shortLink, url, title, comments, folderId, partnerId, createdAt } = link
    const named = { link: id, id, domain, key, shortLink, url, title, comments, folderId, partnerId, createdAt }
    return [{ ...named, ...presentCount(group) }]
  })
}

function keyOf(group: Group): string {
  return group.keys[0] ?? ''
}
