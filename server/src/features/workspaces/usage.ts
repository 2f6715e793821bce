import type { WorkspaceUsage } from '@tributary/contract/workspaces'
import type { Ctx } from '../../platform/context.ts'
import { quotaLimit, requireOwn, storedCount } from './service.ts'
import type { WorkspaceParts } from './settings.ts'

export async function getWorkspaceUsage(ctx: Ctx, parts: WorkspaceParts, idOrSlug: string): Promise<WorkspaceUsage> {
  const { plan } = await requireOwn(ctx, idOrSlug)
  const { counts } = parts
  const used = {
    links: counts.links(ctx),
    customers: storedCount(ctx, 'customers'),
    domains: counts.domains(ctx),
    tags: counts.tags(ctx),
    folders: counts.folders(ctx),
    partners: storedCount(ctx, 'partners'),
    webhooks: counts.webhooks(ctx),
    keys: counts.keys(ctx),
    members: counts.members(ctx),
  }
  const nouns = Object.keys(used) as (keyof typeof used)[]
  const [eventsByDay, webhookBytes, ...amounts] = await Promise.all([
    parts.countEventsByDay(ctx),
    parts.countWebhookBytes(ctx),
    ...nouns.map((noun) => used[noun]),
  ])
  const byNoun = nouns.map((noun, index) => [noun, { used: amounts[index] ?? 0, limit: quotaLimit(ctx, noun) }])
  return {
    plan,
    month: ctx.now().toISOString().slice(0, 7),
    events: { used: eventsByDay.reduce((sum, { events }) => sum + events, 0), limit: null },
    eventsByDay,
    webhookBytes: { used: webhookBytes, limit: ctx.config.WEBHOOK_STORAGE_MEGABYTES * 1_000_000 },
    ...(Object.fromEntries(byNoun) as Pick<WorkspaceUsage, keyof typeof used>),
  }
}
