import type { WorkspacePatch, Workspace as WorkspaceShape } from '@tributary/contract/workspaces'
import type { Ctx } from '../../platform/context.ts'
import { conflict, invalid } from '../../platform/errors.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { parseHostnames, quotaLimit, requireOwn, unknownWorkspace, type Workspace } from './service.ts'
import { updateWorkspace as updateRow, type WorkspaceSettings } from './store.ts'

type ListedDomain = { slug: string; primary: boolean; verified: boolean }
type Counted = 'links' | 'domains' | 'tags' | 'folders' | 'webhooks' | 'keys' | 'members'

/** What a workspace has of other features, which the role passes in, because those features use this one. */
export type WorkspaceParts = {
  counts: Record<Counted, (ctx: Ctx) => Promise<number>>
  /** Counts the events since the start of the month. */
  countEvents(ctx: Ctx): Promise<number>
  /** Counts the events of each day since the start of the month, today included. */
  countEventsByDay(ctx: Ctx): Promise<{ day: string; events: number }[]>
  /** The stored bytes of webhook events. */
  countWebhookBytes(ctx: Ctx): Promise<number>
  listDomains(ctx: Ctx): Promise<ListedDomain[]>
  primaryDomain(ctx: Ctx): Promise<string | null>
  makePrimary(ctx: Ctx, slug: string): Promise<unknown>
}

export async function getWorkspace(ctx: Ctx, parts: WorkspaceParts, idOrSlug: string): Promise<WorkspaceShape> {
  return present(ctx, parts, await requireOwn(ctx, idOrSlug))
}

export async function updateWorkspace(
  ctx: Ctx,
  parts: WorkspaceParts,
  idOrSlug: string,
  patch: WorkspacePatch,
): Promise<WorkspaceShape> {
  const updated = await transaction(ctx, async (ctx) => {
    const before = await requireOwn(ctx, idOrSlug)
    const changes = findChanges(before, patch)
    const defaultDomain = await changeDefaultDomain(ctx, parts, patch.defaultDomain)
    const [old, current] = defaultDomain ?? []
    reportChange(ctx, {
      id: before.id,
      before: { ...before, defaultDomain: old },
      after: { ...changes, ...(defaultDomain && { defaultDomain: current }) },
    })
    return Object.keys(changes).length === 0 ? before : updateRow(ctx.db, ctx.workspaceId, changes)
  }).catch((error) => {
    if (violatedConstraint(error) !== 'workspaces_slug_key') throw error
    throw conflict(`The workspace slug ${patch.slug} is taken. Choose another one.`)
  })
  if (!updated) throw unknownWorkspace(idOrSlug)
  return present(ctx, parts, updated)
}

/** Returns the default domain before and after; undefined if the patch does not name one. */
async function changeDefaultDomain(
  ctx: Ctx,
  parts: WorkspaceParts,
  slug: string | null | undefined,
): Promise<[before: string | null, after: string | null] | undefined> {
  if (slug === undefined) return undefined
  const primary = await parts.primaryDomain(ctx)
  if (slug !== null) {
    await parts.makePrimary(ctx, slug)
    return [primary, slug]
  }
  if (primary === null) return [null, null]
  throw invalid(
    `\`defaultDomain\` in the body must not be null while ${primary} is the primary domain. Name another domain of the workspace.`,
  )
}

function findChanges(before: Workspace, patch: WorkspacePatch): WorkspaceSettings {
  const hostnames = patch.allowedHostnames
  const columns: WorkspaceSettings = {
    name: patch.name,
    slug: patch.slug,
    logo: patch.logo,
    time_zone: patch.timeZone,
    week_start: patch.weekStart,
    currency: patch.currency,
    attribution_days: patch.attributionDays,
    attribution_model: patch.attributionModel,
    ip_storage: patch.ipStorage,
    allowed_hostnames: hostnames && parseHostnames(hostnames),
    contact_email: patch.contactEmail,
  }
  const isChanged = ([name, value]: [string, unknown]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name as keyof Workspace])
  return Object.fromEntries(Object.entries(columns).filter(isChanged))
}

async function present(ctx: Ctx, parts: WorkspaceParts, row: Workspace): Promise<WorkspaceShape> {
  const [domains, defaultDomain, links, folders, events] = await Promise.all([
    parts.listDomains(ctx),
    parts.primaryDomain(ctx),
    parts.counts.links(ctx),
    parts.counts.folders(ctx),
    // The settings must be readable while ClickHouse is down.
    ctx.db.isTransaction ? 0 : parts.countEvents(ctx).catch(() => 0),
  ])
  const role = (ctx.actor.kind === 'user' && ctx.actor.role) || null
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    logo: row.logo,
    plan: row.plan,
    createdAt: row.created_at.toISOString(),
    role,
    defaultDomain,
    timeZone: row.time_zone,
    weekStart: row.week_start,
    currency: row.currency,
    attributionDays: row.attribution_days,
    attributionModel: row.attribution_model,
    ipStorage: row.ip_storage,
    allowedHostnames: row.allowed_hostnames,
    contactEmail: row.contact_email,
    users: [{ role: role === 'owner' ? 'owner' : 'member', defaultFolderId: null }],
    domains,
    totalLinks: links,
    usage: events,
    linksUsage: links,
    foldersUsage: folders,
    ...limits(ctx),
    ...unusedFields,
  }
}

function limits(ctx: Ctx) {
  return {
    usageLimit: Number.MAX_SAFE_INTEGER,
    linksLimit: quotaLimit(ctx, 'links'),
    domainsLimit: quotaLimit(ctx, 'domains'),
    tagsLimit: quotaLimit(ctx, 'tags'),
    foldersLimit: quotaLimit(ctx, 'folders'),
    groupsLimit: quotaLimit(ctx, 'partner groups'),
    usersLimit: quotaLimit(ctx, 'members'),
  }
}

/** Fields that older SDKs require. */
const unusedFields = {
  payoutsUsage: 0,
  payoutsLimit: 0,
  payoutFee: 0,
  aiUsage: 0,
  aiLimit: 0,
  billingCycleStart: 1,
  conversionEnabled: true,
  dotLinkClaimed: false,
  inviteCode: null,
  stripeId: null,
  stripeConnectId: null,
  paymentFailedAt: null,
  flags: {},
  store: null,
}
