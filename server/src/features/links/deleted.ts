import type { DeletedLink, DeletedLinksQuery } from '@tributary/contract/deleted-links'
import type { Link } from '@tributary/contract/links'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, conflict, notFound } from '../../platform/errors.ts'
import { savepoint, transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { hasDomain } from '../domains/service.ts'
import { hiddenFolders, requireFolderWrite } from '../folders/service.ts'
import { disabledTimes, findPartnersById, lockPartners } from '../partners/service.ts'
import { findDeletedLink, findLink, findLinksByNumber } from './access.ts'
import { eraseDeletedLinks, type RestoredColumns, restoreDeletedLink, selectDeletedLinks } from './deleted-store.ts'
import type { LinkOutcome } from './many.ts'
import { restoreFreeLinks } from './many-store.ts'
import { presentAll } from './present.ts'
import type { LinkRow } from './store.ts'
import { lockLinkTags } from './totals-store.ts'
import { publishChange, publishEvents, requireLinkRoom } from './write.ts'

const restorableMs = 30 * 86_400_000
const erasedAtOnce = 1_000

/** Lists the deleted links that can be restored. */
export async function listDeletedLinks(ctx: Ctx, query: DeletedLinksQuery): Promise<DeletedLink[]> {
  const filter = {
    since: restorableSince(ctx),
    hiddenFolders: hiddenFolders(ctx),
    domain: query.domain?.toLowerCase(),
    search: query.search,
  }
  const rows = await selectDeletedLinks(ctx.db, ctx.workspaceId, filter, {
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  const links = await presentAll(ctx, rows)
  return rows.map((row, index) => {
    const deletedAt = row.deleted_at ?? ctx.now()
    const restorableUntil = new Date(deletedAt.getTime() + restorableMs).toISOString()
    return { link: links[index] as Link, deletedAt: deletedAt.toISOString(), restorableUntil }
  })
}

/** Restores a deleted link. Returns a link that is not deleted as it is. */
export async function restoreLink(ctx: Ctx, id: string): Promise<Link> {
  const row = await transaction(ctx, async (ctx) => {
    const deleted = await findRestorable(ctx, id)
    const restored = deleted && (await restore(ctx, deleted))
    if (restored) return restored
    const link = await findLink(ctx, { id })
    if (!link) throw notFound('deleted link', id)
    requireFolderWrite(ctx, link.folder_id)
    return link
  })
  return (await presentAll(ctx, [row]))[0] as Link
}

/** Restores links that were deleted at the given times. Those that can't be restored have a problem. */
export async function restoreLinks(ctx: Ctx, items: { number: bigint; deletedAt: string }[]): Promise<LinkOutcome[]> {
  const times = new Map(items.map(({ number, deletedAt }) => [number, deletedAt]))
  const rows = await findLinksByNumber(ctx, [...times.keys()])
  const domains = await findDomains(ctx, rows)
  const outcomes = new Map<bigint, LinkOutcome>()
  const free: LinkRow[] = []
  await requireLinkRoom(ctx)
  for (const row of rows) {
    const problem = await attempt(async () => {
      if (row.deleted_at?.toISOString() !== times.get(row.number))
        throw conflict('Somebody has restored or deleted the link since.')
      requireRestorable(ctx, row, domains)
      if (row.partner_id === null) free.push(row)
      else await savepoint(ctx, (ctx) => restore(ctx, row))
    })
    outcomes.set(row.number, { number: row.number, id: row.id, ...(problem === undefined ? restored : { problem }) })
  }
  const found = await restoreFree(ctx, free)
  for (const row of free.filter(({ number }) => !found.has(number))) {
    const problem = await attempt(() => savepoint(ctx, (ctx) => restore(ctx, row)))
    if (problem !== undefined) outcomes.set(row.number, { number: row.number, problem })
  }
  return items.map(({ number }) => outcomes.get(number) ?? { number, problem: 'The link does not exist.' })
}

const restored = { before: {}, after: {} }

/** Restores links whose address is free, in one statement; the links that it leaves out are restored one by one. */
async function restoreFree(ctx: Ctx, links: LinkRow[]): Promise<Set<bigint>> {
  if (links.length === 0) return new Set()
  const numbers = links.map(({ number }) => number)
  await lockLinkTags(ctx.db, ctx.workspaceId)
  try {
    const found = await savepoint(ctx, ({ db }) => restoreFreeLinks(db, ctx.workspaceId, numbers))
    const former = new Map(links.map((link) => [link.number, link]))
    await publishEvents(ctx, 'link.updated', await findLinksByNumber(ctx, found), former)
    return new Set(found)
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error
    return new Set()
  }
}

async function findDomains(ctx: Ctx, rows: LinkRow[]): Promise<Set<string>> {
  const found = new Set([ctx.config.SHORT_DOMAIN])
  for (const domain of new Set(rows.map((row) => row.domain))) if (await hasDomain(ctx, domain)) found.add(domain)
  return found
}

/** Runs `work`; returns the message of its error, if it is an error that a client can understand. */
async function attempt(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/** Reads a deleted link that can be restored. */
export function findRestorable(ctx: Ctx, id: string): Promise<LinkRow | undefined> {
  return findDeletedLink(ctx, id, restorableSince(ctx))
}

/** Erases the settings of links that can no longer be restored. Returns whether there are more. */
export async function eraseLinks(platform: Pick<Platform, 'db' | 'now'>): Promise<boolean> {
  return (await eraseDeletedLinks(platform.db, restorableSince(platform), erasedAtOnce)) === erasedAtOnce
}

function restorableSince({ now }: Pick<Platform, 'now'>): Date {
  return new Date(now().getTime() - restorableMs)
}

/** Restores a link and publishes it; undefined when a concurrent call has restored it. */
async function restore(ctx: Ctx, link: LinkRow): Promise<LinkRow | undefined> {
  requireRestorable(ctx, link, await findDomains(ctx, [link]))
  await requireLinkRoom(ctx)
  const columns = await partnerChanges(ctx, link)
  if (!(await restoreRow(ctx, link, columns))) return undefined
  reportChange(ctx, { kind: 'links', id: link.id, before: link, after: { ...columns, deleted_at: null } })
  return publishChange(ctx, link.number, link)
}

function requireRestorable(ctx: Ctx, { domain, folder_id }: LinkRow, domains: Set<string>): void {
  requireFolderWrite(ctx, folder_id)
  if (!domains.has(domain))
    throw conflict(`The workspace no longer has the domain ${domain}. Add the domain, then restore the link.`)
}

async function restoreRow(ctx: Ctx, link: LinkRow, columns: RestoredColumns): Promise<boolean> {
  try {
    return await restoreDeletedLink(ctx.db, ctx.workspaceId, link.number, columns)
  } catch (error) {
    const constraint = violatedConstraint(error)
    const advice = 'Change or delete that link, then restore this one.'
    if (constraint === 'links_domain_key')
      throw conflict(`Another link has the address ${link.domain}/${link.key} meanwhile. ${advice}`)
    if (constraint === 'links_external_id')
      throw conflict(`Another link has the externalId ${link.external_id} meanwhile. ${advice}`)
    throw error
  }
}

/** What happened to the partner while the link was deleted: a merge, a ban or a deactivation, or the end of one. */
async function partnerChanges(ctx: Ctx, { partner_id, disabled_at }: LinkRow): Promise<RestoredColumns> {
  if (partner_id === null) return {}
  const found = (await findPartnersById(ctx, [partner_id])).get(partner_id)
  if (!found) return { partner_id: null }
  const [partner] = await lockPartners(ctx.db, ctx.workspaceId, [found.number])
  if (!partner) throw conflict(`The partner ${found.id} is being merged. Try again.`)
  const merged =
    partner.id === partner_id
      ? {}
      : { partner_id: partner.id, ...(partner.tenant_id && { tenant_id: partner.tenant_id }) }
  const times = await disabledTimes(ctx, partner.number)
  if (partner.status === 'banned' || partner.status === 'deactivated')
    return { ...merged, ...(disabled_at === null && { disabled_at: times[0] ?? ctx.now() }) }
  const byPartner = disabled_at !== null && times.some((time) => time.getTime() === disabled_at.getTime())
  return { ...merged, ...(byPartner && { disabled_at: null }) }
}
