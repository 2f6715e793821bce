import type { AnalyticsCount, AnalyticsRow } from '@tributary/contract/analytics'
import { boundedSum } from '@tributary/contract/common'
import { type Ctx, hasScope } from '../../platform/context.ts'
import { foldersByIds } from '../folders/service.ts'
import { groupsById } from '../groups/service.ts'
import { linkTitles } from '../links/service.ts'
import { partnerTagsById } from '../partner-tags/service.ts'
import { type BriefPartner, findPartnersById } from '../partners/service.ts'
import { tagsByIds } from '../tags/service.ts'
import type { Bucket } from './buckets.ts'
import { type LinkGrouping, type ValueGrouping, valueGroupings } from './groupings.ts'
import type { Total, ValueCount } from './store.ts'

export function presentTotal(
  total: Omit<Total, 'start' | 'link_number'> | undefined,
  visitors = false,
): AnalyticsCount {
  return {
    clicks: Number(total?.clicks ?? 0),
    leads: Number(total?.leads ?? 0),
    sales: Number(total?.sales ?? 0),
    saleAmount: boundedSum(total?.saleAmount ?? 0),
    ...(visitors && { visitors: Number(total?.visitors ?? 0) }),
  }
}

/** The sum of a time series, which has every event of its period. */
export function sumTotals(rows: Total[]): Total | undefined {
  if (rows.length < 2) return rows[0]
  const sum = (name: 'clicks' | 'leads' | 'sales' | 'saleAmount') =>
    String(rows.reduce((total, row) => total + BigInt(row[name]), 0n))
  return { clicks: sum('clicks'), leads: sum('leads'), sales: sum('sales'), saleAmount: sum('saleAmount') }
}

/** Builds a time series with a row for every bucket, even an empty one. */
export function presentSeries(
  buckets: Bucket[],
  totals: Total[],
  visitors: boolean,
): (AnalyticsCount & { start: string })[] {
  const found = new Map(totals.map((total) => [Number(total.start), total]))
  return buckets.map(({ second, start }) => ({ start, ...presentTotal(found.get(second), visitors) }))
}

export async function presentGroups(
  ctx: Ctx,
  groupBy: LinkGrouping | ValueGrouping,
  groups: ValueCount[],
): Promise<AnalyticsRow[]> {
  switch (groupBy) {
    case 'top_links':
      return presentLinks(ctx, groups)
    case 'top_domains':
      return groups.map((group) => ({ domain: group.value, ...presentTotal(group) }))
    case 'top_folders': {
      const folders = await foldersByIds(ctx, groups.map(readValue).filter(Boolean))
      return groups.map((group) => {
        const { id, name, accessLevel } = folders.get(group.value) ?? {}
        const folder = id === undefined ? null : { id, name, accessLevel }
        return { folderId: group.value || null, folder, ...presentTotal(group) }
      })
    }
    case 'top_link_tags': {
      const tags = await tagsByIds(ctx, groups.map(readValue).filter(Boolean))
      return groups.map((group) => {
        return { tagId: group.value || null, tag: tags.get(group.value) ?? null, ...presentTotal(group) }
      })
    }
    case 'top_partners':
      return presentPartners(ctx, groups.filter(readValue))
    case 'top_groups': {
      const named = groups.filter(readValue)
      const found = await groupsById(ctx, named.map(readValue))
      return named.map((group) => {
        const { id, name, slug, color } = found.get(group.value) ?? {}
        return {
          groupId: group.value,
          group: id === undefined ? null : { id, name, slug, color },
          ...presentTotal(group),
        }
      })
    }
    case 'top_partner_tags': {
      const named = groups.filter(readValue)
      const found = await partnerTagsById(ctx, named.map(readValue))
      return named.map((group) => {
        const { id, name } = found.get(group.value) ?? {}
        return { partnerTagId: group.value, partnerTag: id === undefined ? null : { id, name }, ...presentTotal(group) }
      })
    }
    default:
      return presentValues(groupBy, groups)
  }
}

function presentValues(groupBy: ValueGrouping, groups: ValueCount[]): AnalyticsRow[] {
  const { fields, wholes, closed } = valueGroupings[groupBy]
  const shown = closed ? groups.filter((group) => closed.includes(group.value)) : groups
  return shown.map((group) => {
    const parts = fields.length > 1 ? group.value.split('\t') : [group.value]
    const named = Object.fromEntries(fields.map((name, index) => [name, parts[index] ?? '']))
    return { ...wholes, ...named, ...presentTotal(group) }
  })
}

async function presentPartners(ctx: Ctx, groups: ValueCount[]): Promise<AnalyticsRow[]> {
  const found = await findPartnersById(ctx, groups.map(readValue))
  const isShown = hasScope(ctx.actor, 'partners.read')
  return groups.map((group) => {
    const partner = found.get(group.value)
    return {
      partnerId: group.value,
      partner: partner ? presentPartner(partner, isShown) : null,
      ...presentTotal(group),
    }
  })
}

/** The partner of a group: without `partners.read`, only id and name. */
function presentPartner({ id, name, email, image, country }: BriefPartner, isShown: boolean) {
  if (isShown) return { id, name, email, image, payoutsEnabledAt: null, country }
  // A partner that was created without a name has the e-mail address as name.
  const shownName = name.includes('@') ? id : name
  return { id, name: shownName, email: null, image: null, payoutsEnabledAt: null, country: null }
}

/** Builds the rows of `top_links`; omits leads and sales that belong to no link. */
async function presentLinks(ctx: Ctx, groups: ValueCount[]): Promise<AnalyticsRow[]> {
  const links = await linkTitles(
    ctx,
    groups.map(({ value }) => BigInt(value)),
  )
  return groups.flatMap((group) => {
    const link = links.get(group.value)
    return link ? [{ link: link.id, ...link, ...presentTotal(group) }] : []
  })
}

function readValue({ value }: ValueCount): string {
  return value
}
