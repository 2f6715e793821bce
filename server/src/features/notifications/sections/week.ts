import {
  type AnalyticsBatch,
  type AnalyticsCount,
  type AnalyticsRow,
  analyticsBatchQuery,
  linkStatsQuery,
} from '@tributary/contract/analytics'
import { retrieveAnalyticsBatch, retrieveLinkStats } from '../../analytics/service.ts'
import { weekDates } from '../calendar.ts'
import type { Section, Table } from '../compose.ts'
import type { Recipient } from '../recipients.ts'
import { formatChange, formatCount, formatDate, formatMoney, pageUrl } from './format.ts'
import { findMovers, type LinkWeek } from './movers.ts'

type Dates = { start: string; end: string }

const mostRows = 5
const comparedLinks = 50

/** The figures of a week beside those of the week before, of what this person may see; nothing if both are empty. */
export async function describeWeek(
  recipient: Recipient,
  { occasion }: { occasion: string },
): Promise<Section | undefined> {
  const { week, before } = weekDates(occasion)
  const [now, then] = [await readWeek(recipient, week), await readWeek(recipient, before)]
  const [count, former] = [now.count, then.count]
  if (!count || !former || [count, former].every(({ clicks, leads, sales }) => clicks + leads + sales === 0))
    return undefined
  const movers = findMovers(await compareLinks(recipient, [week, before], [now, then]))
  const tables: Table[] = [
    { title: 'The week', head: ['Figure', 'this week', 'before', 'change'], rows: figures(recipient, count, former) },
    { title: 'Top links', head: ['Link', 'clicks', 'leads', 'sales'], rows: listTop(now.top_links, linkName) },
    { title: 'Top sources', head: ['Source', 'clicks', 'leads', 'sales'], rows: listTop(now.referers, sourceName) },
    { title: 'Rose', head: ['Link', 'clicks', 'before', 'change'], rows: movers.rose.map(describeMover) },
    { title: 'Fell', head: ['Link', 'clicks', 'before', 'change'], rows: movers.fell.map(describeMover) },
  ]
  const change = formatChange(count.clicks, former.clicks)
  return {
    title: `Your week: ${formatCount(count.clicks)} clicks (${change})`,
    sentences: [
      `${recipient.workspace.name}, ${formatDate(week.start)} to ${formatDate(week.end)} (${recipient.workspace.time_zone}), beside the week before.`,
    ],
    tables: tables.filter(({ rows }) => rows.length > 0),
    action: { label: 'Open analytics', url: pageUrl(recipient, `analytics?start=${week.start}&end=${week.end}`) },
  }
}

function readWeek({ ctx, workspace }: Recipient, dates: Dates): Promise<AnalyticsBatch> {
  const groupBy = ['count', 'top_links', 'referers'] as const
  const period = { ...dates, timezone: workspace.time_zone }
  const query = analyticsBatchQuery.parse({ event: 'composite', groupBy, limit: comparedLinks, ...period })
  return retrieveAnalyticsBatch(ctx, query)
}

/** The clicks in both weeks of the links that were among the top ones in either. */
async function compareLinks(
  { ctx, workspace }: Recipient,
  weeks: Dates[],
  found: AnalyticsBatch[],
): Promise<LinkWeek[]> {
  const links = new Map(found.flatMap(({ top_links = [] }) => top_links.map((row) => [String(row.id), linkName(row)])))
  if (links.size === 0) return []
  const linkIds = [...links.keys()]
  const [now, then] = await Promise.all(
    weeks.map(async (dates) => {
      const query = linkStatsQuery.parse({ linkIds, ...dates, timezone: workspace.time_zone })
      return new Map((await retrieveLinkStats(ctx, query)).map((stats) => [stats.linkId, stats.clicks]))
    }),
  )
  return linkIds.map((id) => ({ name: links.get(id) ?? '', clicks: now?.get(id) ?? 0, before: then?.get(id) ?? 0 }))
}

function figures({ workspace }: Recipient, now: AnalyticsCount, then: AnalyticsCount): string[][] {
  const row = (name: string, key: keyof Omit<AnalyticsCount, 'visitors'>, format: (value: number) => string) => [
    name,
    format(now[key]),
    format(then[key]),
    formatChange(now[key], then[key]),
  ]
  return [
    row('Clicks', 'clicks', formatCount),
    row('Leads', 'leads', formatCount),
    row('Sales', 'sales', formatCount),
    row('Revenue', 'saleAmount', (cents) => formatMoney(cents, workspace.currency)),
  ]
}

function listTop(rows: AnalyticsRow[] = [], name: (row: AnalyticsRow) => string): string[][] {
  return rows
    .slice(0, mostRows)
    .map((row) => [name(row), formatCount(row.clicks), formatCount(row.leads), formatCount(row.sales)])
}

function linkName(row: AnalyticsRow): string {
  return String(row.shortLink).replace(/^https?:\/\//, '')
}

function sourceName({ referer }: AnalyticsRow): string {
  return referer === '(direct)' ? 'Direct' : String(referer)
}

function describeMover({ name, clicks, before }: LinkWeek): string[] {
  return [name, formatCount(clicks), formatCount(before), formatChange(clicks, before)]
}
