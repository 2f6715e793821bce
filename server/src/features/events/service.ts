import type { AnalyticsQuery } from '@tributary/contract/analytics'
import type { ClickEvent, EventFilters, EventsQuery } from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import type { Ctx, Platform } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import type { FolderDeleted } from '../folders/messages.ts'
import { deletedFolders } from '../folders/service.ts'
import type { LinkChanged } from '../links/messages.ts'
import { linkNumbers, linksByNumber } from '../links/service.ts'
import type { TagDeleted } from '../tags/messages.ts'
import { deletedTags } from '../tags/service.ts'
import { settlePeriod } from './period.ts'
import {
  type ClickRow,
  countByColumns,
  countPeople,
  type EventColumn,
  type Group,
  insertClicks,
  insertLinkAttributes,
  lockLinkAttributes,
  type NewClickRow,
  removeFolders,
  removeTags,
  selectClicks,
} from './store.ts'
import { type EventFilter, parseFilter, whereOf } from './where.ts'

export type { EventColumn, Group }
export type NewClick = NewClickRow

const mostGroups = 10_000
// Room between two versions of a link: a correction is newer than what it corrects and older than the next change.
const correctionsPerVersion = 1_000_000n
// Ids travel in the address of a ClickHouse request, which servers limit.
const correctedAtOnce = 100

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

/** How often each destination of a link was reached, from when on. */
export async function clicksByUrl(
  platform: Pick<Platform, 'clickhouse' | 'now'>,
  workspaceId: string,
  linkNumber: bigint,
  from: Date,
): Promise<{ url: string; clicks: number }[]> {
  const period = { from, to: new Date(platform.now().getTime() + 1) }
  const where = whereOf(workspaceId, period, { linkNumbers: [{ numbers: [linkNumber], excluded: false }] })
  const groups = await countByColumns(platform.clickhouse, where, ['url'], mostGroups)
  return groups.map(({ url = '', clicks }) => ({ url, clicks: Number(clicks) }))
}

export function appendClicks(platform: Pick<Platform, 'clickhouse'>, clicks: NewClick[], token: string): Promise<void> {
  return insertClicks(platform.clickhouse, clicks, token)
}

export type LinkPeople = { workspaceId: string; linkNumber: bigint; rows: number; doubled: number; last: Date }

/** How many clicks of people are stored of each link in a range of numbers, and how many of them twice. */
export async function peopleByLink(
  platform: Pick<Platform, 'clickhouse'>,
  range: Parameters<typeof countPeople>[1],
): Promise<LinkPeople[]> {
  const rows = await countPeople(platform.clickhouse, range)
  return rows.map(({ workspace_id, number, stored, doubled, last }) => ({
    workspaceId: workspace_id,
    linkNumber: BigInt(number),
    rows: Number(stored),
    doubled: Number(doubled),
    last: new Date(Number(last)),
  }))
}

export async function keepLinkAttributes(
  platform: Pick<Platform, 'clickhouse' | 'db'>,
  changes: LinkChanged[],
): Promise<void> {
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
    version: String(BigInt(change.version) * correctionsPerVersion),
  }))
  await insertLinkAttributes(platform.clickhouse, rows)
  // A change can come later than the message that a tag or folder in it is gone, which found nothing to correct then.
  const tags = changes.flatMap(({ workspaceId, tagIds }) => tagIds.map((tagId) => ({ workspaceId, tagId })))
  await forgetTags(platform, await deletedTags(platform, tags))
  const folders = changes.filter(({ folderId }) => folderId !== '')
  await forgetFolders(platform, await deletedFolders(platform, folders))
}

export function forgetTags(platform: Pick<Platform, 'clickhouse' | 'db'>, deleted: TagDeleted[]): Promise<void> {
  const byWorkspace = Map.groupBy(deleted, ({ workspaceId }) => workspaceId)
  return correctLinks(platform, byWorkspace, (workspaceId, tags) =>
    removeTags(
      platform.clickhouse,
      workspaceId,
      tags.map(({ tagId }) => tagId),
    ),
  )
}

export function forgetFolders(platform: Pick<Platform, 'clickhouse' | 'db'>, deleted: FolderDeleted[]): Promise<void> {
  const byWorkspace = Map.groupBy(deleted, ({ workspaceId }) => workspaceId)
  return correctLinks(platform, byWorkspace, (workspaceId, folders) =>
    removeFolders(
      platform.clickhouse,
      workspaceId,
      folders.map(({ folderId }) => folderId),
    ),
  )
}

/** One correction at a time in a workspace: two that read the same link would each undo what the other removed. */
async function correctLinks<T>(
  platform: Pick<Platform, 'db'>,
  byWorkspace: Map<string, T[]>,
  correct: (workspaceId: string, part: T[]) => Promise<void>,
): Promise<void> {
  for (const [workspaceId, items] of byWorkspace) {
    await transaction(platform, async ({ db }) => {
      await lockLinkAttributes(db, workspaceId)
      for (let start = 0; start < items.length; start += correctedAtOnce) {
        await correct(workspaceId, items.slice(start, start + correctedAtOnce))
      }
    })
  }
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
    if (values.length > 0) named.push({ numbers: await linkNumbers(ctx, { ids: values }), excluded })
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
