import { retrieveAnalytics as analytics } from '@tributary/contract/analytics'
import * as domains from '@tributary/contract/domains'
import * as links from '@tributary/contract/links'
import { countEvents } from '../features/analytics/service.ts'
import { domainCount, listDomains, makePrimary, primaryDomain } from '../features/domains/service.ts'
import { folderCount } from '../features/folders/service.ts'
import { countMembersAndInvites } from '../features/invites/service.ts'
import { countLinks } from '../features/links/list.ts'
import { tagCount } from '../features/tags/service.ts'
import { tokenCount } from '../features/tokens/service.ts'
import { webhookBytes, webhookCount } from '../features/webhooks/service.ts'
import type { WorkspaceParts } from '../features/workspaces/settings.ts'
import type { Ctx } from '../platform/context.ts'

// Older SDKs expect the domains of a workspace in one list.
const mostDomains = 100

/** What a workspace has of the features that use it. */
export const workspaceParts: WorkspaceParts = {
  counts: {
    links: (ctx) => countLinks(ctx, links.countLinks.query.parse({ showArchived: 'true' })),
    domains: domainCount,
    tags: tagCount,
    folders: folderCount,
    webhooks: webhookCount,
    keys: tokenCount,
    members: countMembersAndInvites,
  },
  countEvents: countMonth,
  countEventsByDay: countDays,
  countWebhookBytes: webhookBytes,
  async listDomains(ctx) {
    const query = domains.listDomains.query.parse({ pageSize: mostDomains, sortBy: 'createdAt', sortOrder: 'asc' })
    const found = await listDomains(ctx, query)
    return found.map(({ slug, primary, verified }) => ({ slug, primary, verified }))
  },
  primaryDomain,
  makePrimary,
}

async function countMonth(ctx: Ctx): Promise<number> {
  const query = analytics.query.parse({ event: 'composite', groupBy: 'count', interval: 'mtd', timezone: 'UTC' })
  const count = (await countEvents(ctx, query)) as Partial<Record<'clicks' | 'leads' | 'sales', number>>
  return (count.clicks ?? 0) + (count.leads ?? 0) + (count.sales ?? 0)
}

type Bucket = { start: string; clicks: number; leads: number; sales: number }

async function countDays(ctx: Ctx): Promise<{ day: string; events: number }[]> {
  const query = analytics.query.parse({ event: 'composite', groupBy: 'timeseries', interval: 'mtd', timezone: 'UTC' })
  const buckets = (await countEvents(ctx, query)) as unknown as Bucket[]
  const today = ctx.now().toISOString().slice(0, 10)
  const days = Array.from({ length: Number(today.slice(8)) }, (_, index) => {
    return `${today.slice(0, 8)}${String(index + 1).padStart(2, '0')}`
  })
  const counts = new Map(days.map((day) => [day, 0]))
  // A month of few days is counted by the hour.
  for (const { start, clicks, leads, sales } of buckets) {
    const day = start.slice(0, 10)
    counts.set(day, (counts.get(day) ?? 0) + clicks + leads + sales)
  }
  return [...counts].map(([day, events]) => ({ day, events }))
}
