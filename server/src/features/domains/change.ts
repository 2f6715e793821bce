import type { Domain, DomainPatch } from '@tributary/contract/domains'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { announce, changed, type DomainCtx } from './announce.ts'
import { hostProblem, parseHost, soughtHost } from './host.ts'
import { presentDomain } from './present.ts'
import { settingsProblem } from './settings.ts'
import {
  changeDomain,
  choosePrimary,
  type DomainChanges,
  type DomainRow,
  lockDomains,
  removeDomain,
  selectDomain,
  unsetPrimary,
} from './store.ts'

export async function updateDomain(ctx: DomainCtx, slug: string, patch: DomainPatch): Promise<Domain> {
  const renamedTo = patch.slug === undefined ? undefined : parseHost(patch.slug)
  const problem = patch.slug === undefined ? undefined : hostProblem(renamedTo, ctx.config)
  if (problem) throw invalid(`\`slug\` in the body ${problem}.`)
  const settings = settingsProblem(patch)
  if (settings) throw invalid(settings)
  const updated = await transaction(ctx, (ctx) => update(ctx, soughtHost(slug), { ...patch, slug: renamedTo })).catch(
    (error) => {
      if (violatedConstraint(error) !== 'domains_slug_key') throw error
      throw conflict(`The domain ${renamedTo} is already in use.`)
    },
  )
  return presentDomain(updated)
}

export async function deleteDomain(ctx: DomainCtx, slug: string): Promise<{ slug: string }> {
  const sought = soughtHost(slug)
  return transaction(ctx, async (ctx) => {
    await lockDomains(ctx.db, ctx.workspaceId)
    if (!(await giveUpDomain(ctx, { slug: sought }))) throw notFound('domain', sought)
    reportChange(ctx, { id: sought, before: { slug: sought } })
    return { slug: sought }
  })
}

/** Deletes a domain; false when the workspace has no such domain. Call it in a transaction that holds `lockDomains`. */
export async function giveUpDomain(ctx: DomainCtx, by: { slug: string; id?: string }): Promise<boolean> {
  const removed = await removeDomain(ctx.db, ctx.workspaceId, by)
  if (!removed) return false
  const primary = removed.is_primary ? await choosePrimary(ctx.db, ctx.workspaceId, ctx.now()) : undefined
  await announce(ctx, { slug: removed.slug, deleted: true }, ...(primary === undefined ? [] : [changed(primary)]))
  return true
}

async function update(ctx: DomainCtx, slug: string, patch: DomainPatch): Promise<DomainRow> {
  await lockDomains(ctx.db, ctx.workspaceId)
  const before = await selectDomain(ctx.db, ctx.workspaceId, slug)
  if (!before) throw notFound('domain', slug)
  if (patch.primary === false && before.is_primary) {
    throw invalid('`primary` in the body must not be false for the primary domain. Make another domain primary.')
  }
  const now = ctx.now()
  const changes = findChanges(before, patch, now)
  reportChange(ctx, { id: before.id, before, after: changes })
  if (Object.keys(changes).length === 0) return before
  const other = changes.is_primary ? await unsetPrimary(ctx.db, ctx.workspaceId, now) : undefined
  const after = await changeDomain(ctx.db, ctx.workspaceId, before.id, { ...changes, updated_at: now })
  if (!after) throw notFound('domain', slug)
  const renamedTo = after.slug === before.slug ? undefined : after.slug
  const others = [renamedTo, other].filter((name) => name !== undefined)
  await announce(ctx, { ...changed(before.slug), renamedTo }, ...others.map(changed))
  return after
}

/** The domain's columns that the update really changes. A renamed domain must be verified again. */
function findChanges(before: DomainRow, patch: DomainPatch, now: Date): DomainChanges {
  const patched: DomainChanges = {
    slug: patch.slug,
    is_primary: patch.primary,
    archived: patch.archived,
    ...domainColumns(patch),
  }
  const changes = Object.fromEntries(
    Object.entries(patched).filter(([name, value]) => value !== undefined && value !== before[name as keyof DomainRow]),
  ) as DomainChanges
  if (changes.slug === undefined) return changes
  return { ...changes, verified: false, check_at: now, checks: 0, checked_at: null, check_result: null }
}

/** A domain's settings as table columns. */
export function domainColumns(settings: Omit<DomainPatch, 'slug' | 'primary' | 'archived'>) {
  return {
    placeholder: settings.placeholder,
    expired_url: settings.expiredUrl,
    not_found_url: settings.notFoundUrl,
    logo: settings.logo,
    asset_links: settings.assetLinks,
    apple_app_site_association: settings.appleAppSiteAssociation,
  } satisfies DomainChanges
}
