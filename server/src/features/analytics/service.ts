import type { AnalyticsCount, AnalyticsQuery, AnalyticsRow, Grouping } from '@tributary/contract/analytics'
import type { Ctx } from '../../platform/context.ts'
import { aggregate, type EventColumn, type Group } from '../events/service.ts'
import { linksByNumber } from '../links/service.ts'

type ColumnGrouping = Exclude<Grouping, 'count' | 'top_links'>

/** Which columns of an event make a group, and under which name each is shown. */
const groupColumns: Record<ColumnGrouping, Partial<Record<EventColumn, string>>> = {
  continents: { continent: 'continent' },
  countries: { country: 'country' },
  regions: { country: 'country', region: 'region' },
  cities: { country: 'country', region: 'region', city: 'city' },
  devices: { device: 'device' },
  browsers: { browser: 'browser' },
  os: { os: 'os' },
  trigger: { trigger: 'trigger' },
  triggers: { trigger: 'trigger' },
  referers: { referer: 'referer' },
  referer_urls: { referer_url: 'refererUrl' },
  top_urls: { url: 'url' },
  utm_sources: { utm_source: 'utm_source' },
  utm_mediums: { utm_medium: 'utm_medium' },
  utm_campaigns: { utm_campaign: 'utm_campaign' },
  utm_terms: { utm_term: 'utm_term' },
  utm_contents: { utm_content: 'utm_content' },
}

/** The whole of a level that a coarser grouping does not tell apart. */
const wholes: Partial<Record<Grouping, object>> = { countries: { region: '*', city: '*' }, regions: { city: '*' } }

export async function retrieveAnalytics(ctx: Ctx, query: AnalyticsQuery): Promise<AnalyticsCount | AnalyticsRow[]> {
  const { groupBy } = query
  if (groupBy === 'count') return counts((await aggregate(ctx, query, []))[0])
  if (groupBy === 'top_links') return topLinks(ctx, await aggregate(ctx, query, ['link_number']))
  const columns = Object.entries(groupColumns[groupBy]) as [EventColumn, string][]
  const groups = await aggregate(
    ctx,
    query,
    columns.map(([column]) => column),
  )
  return groups
    .filter((group) => isShown(groupBy, group))
    .map((group) => ({
      ...(wholes[groupBy] as Record<string, string> | undefined),
      ...Object.fromEntries(columns.map(([column, name]) => [name, String(group[column])])),
      ...counts(group),
    }))
}

/** The contract closes the list of continents, so an unknown one can't be told. */
function isShown(groupBy: Grouping, group: Group): boolean {
  return groupBy !== 'continents' || group.continent !== 'Unknown'
}

async function topLinks(ctx: Ctx, groups: Group[]): Promise<AnalyticsRow[]> {
  const links = await linksByNumber(
    ctx,
    groups.map((group) => BigInt(group.link_number ?? 0)),
  )
  return groups.flatMap((group) => {
    const link = links.get(BigInt(group.link_number ?? 0))
    if (!link) return []
    const { id, domain, key, shortLink, url, title, comments, folderId, partnerId, createdAt } = link
    return [
      { link: id, id, domain, key, shortLink, url, title, comments, folderId, partnerId, createdAt, ...counts(group) },
    ]
  })
}

function counts(group: Group | undefined): AnalyticsCount {
  return { clicks: Number(group?.clicks ?? 0), leads: 0, sales: 0, saleAmount: 0 }
}
