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
import { webhookCount } from '../features/webhooks/service.ts'
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
