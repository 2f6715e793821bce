import type { AnalyticsQuery } from '@tributary/contract/analytics'
import type { ClickEvent, EventFilters, EventsQuery } from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import type { Ctx, Platform } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import type { LinkChanged } from '../links/messages.ts'
import { linkNumbers, linksByNumber } from '../links/service.ts'
import { settlePeriod } from './period.ts'
import {
  type ClickRow,
  countByColumns,
  type EventColumn,
  type Group,
  insertClicks,
  insertLinkAttributes,
  type NewClickRow,
  selectClicks,
} from './store.ts'
import { type EventFilter, parseFilter, whereOf } from './where.ts'

export type { EventColumn, Group }
export type NewClick = NewClickRow

const mostGroups = 10_000

export async function listEvents(ctx: Ctx, query: EventsQuery): Promise<ClickEvent[]> {
  const where = await whereFor(ctx, query)
  // No lead or sale has been recorded before there is an operation that tracks them.
  if (query.event !== 'clicks') return []
  const rows = await selectClicks(ctx.clickhouse, where, {
    ascending: (query.sortOrder ?? query.order) === 'asc',
    limit: query.limit,
    offset: (query.page - 1) * query.limit,
  })
  const links = await linksByNumber(
    ctx,
    rows.map((row) => BigInt(row.link_number)),
  )
  return rows.flatMap((row) => {
    const link = links.get(BigInt(row.link_number))
    return link ? [presentClick(row, link)] : []
  })
}

/** How many events there were, by these columns. */
export async function aggregate(ctx: Ctx, query: AnalyticsQuery, columns: EventColumn[]): Promise<Group[]> {
  const where = await whereFor(ctx, query)
  // Leads and sales are not recorded yet: their counts are zero, and without clicks there is no group.
  if (query.event === 'leads' || query.event === 'sales') return []
  return countByColumns(ctx.clickhouse, where, columns, mostGroups)
}

export function appendClicks(platform: Pick<Platform, 'clickhouse'>, clicks: NewClick[], token: string): Promise<void> {
  return insertClicks(platform.clickhouse, clicks, token)
}

export function keepLinkAttributes(platform: Pick<Platform, 'clickhouse'>, changes: LinkChanged[]): Promise<void> {
  const rows = changes.map((change) => ({
    workspace_id: change.workspaceId,
    link_number: change.linkNumber,
    domain: change.domain,
    is_root: change.isRoot,
    folder_id: change.folderId,
    tenant_id: change.tenantId,
    partner_id: change.partnerId,
    tag_ids: change.tagIds,
    deleted: change.deleted,
    version: change.version,
  }))
  return insertLinkAttributes(platform.clickhouse, rows)
}

async function whereFor(ctx: Ctx, query: EventFilters) {
  const period = settlePeriod(query, ctx.now())
  if ('problem' in period) throw invalid(`\`${period.problem.field}\` in the query: ${period.problem.message}.`)
  const filter: EventFilter = { ...query, linkNumbers: await namedLinks(ctx, query) }
  return whereOf(ctx.workspaceId, period, filter)
}

async function namedLinks(ctx: Ctx, query: EventFilters): Promise<EventFilter['linkNumbers']> {
  const named: NonNullable<EventFilter['linkNumbers']> = []
  if (query.linkId) {
    const { values, excluded } = parseFilter(query.linkId)
    named.push({ numbers: await linkNumbers(ctx, { ids: values }), excluded })
  }
  if (query.externalId) {
    if (!query.externalId.startsWith('ext_')) throw invalid('`externalId` in the query must start with `ext_`.')
    named.push({ numbers: await oneLink(ctx, { externalId: query.externalId }, query.externalId), excluded: false })
  }
  if (query.key) {
    if (!query.domain) throw invalid('`key` in the query must be used together with `domain`.')
    const address = { domain: query.domain, key: query.key }
    named.push({ numbers: await oneLink(ctx, address, `${query.domain}/${query.key}`), excluded: false })
  }
  return named
}

async function oneLink(ctx: Ctx, by: Parameters<typeof linkNumbers>[1], name: string): Promise<bigint[]> {
  const numbers = await linkNumbers(ctx, by)
  if (numbers.length === 0) throw notFound('link', name)
  return numbers
}

function presentClick(row: ClickRow, link: Link): ClickEvent {
  const ip = row.ip === '::' ? '' : row.ip.replace(/^::ffff:(?=\d+\.)/, '')
  const qr = row.trigger === 'qr'
  const place = { country: row.country, city: row.city, continent: row.continent }
  const device = { device: row.device, browser: row.browser, os: row.os }
  return {
    event: 'click',
    timestamp: row.timestamp,
    click: {
      id: row.id_text,
      timestamp: row.timestamp,
      url: row.url,
      ...place,
      region: row.region,
      ...device,
      trigger: row.trigger,
      referer: row.referer,
      refererUrl: row.referer_url,
      qr,
      ip,
    },
    link,
    click_id: row.id_text,
    link_id: link.id,
    domain: link.domain,
    key: link.key,
    url: row.url,
    ...place,
    ...device,
    qr: qr ? 1 : 0,
    ip,
  }
}
