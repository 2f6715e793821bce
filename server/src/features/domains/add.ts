import type { Domain, NewDomain } from '@tributary/contract/domains'
import type { Ctx } from '../../platform/context.ts'
import { conflict, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireRoom } from '../workspaces/service.ts'
import { announce, changed, type DomainCtx } from './announce.ts'
import { domainColumns, giveUpDomain } from './change.ts'
import { hostProblem, parseHost } from './host.ts'
import { presentDomain } from './present.ts'
import { hasTextProof } from './proof.ts'
import { recordsFor } from './records.ts'
import { settingsProblem } from './settings.ts'
import {
  countDomains,
  type DomainRow,
  insertDomain,
  lockDomains,
  type NewDomainRow,
  selectDomainBySlug,
} from './store.ts'

const attempts = 3

/** Adds a domain. A caller inside a transaction passes the result of `proveTakeover`, because DNS is slow. */
export async function createDomain(ctx: Ctx, input: NewDomain, isProved?: boolean): Promise<Domain> {
  return presentDomain(await create(ctx, input, '`slug` in the body', isProved))
}

/** Checks by DNS whether this workspace may take a domain from the workspace that has it. May take seconds. */
export async function proveTakeover(ctx: Ctx, name: string): Promise<boolean> {
  const slug = parseHost(name)
  const holder = slug === undefined ? undefined : await selectDomainBySlug(ctx.db, slug)
  if (slug === undefined || !holder || holder.workspace_id === ctx.workspaceId) return false
  return hasTextProof(ctx.config, { workspace_id: ctx.workspaceId, slug })
}

/** Adds a domain that is registered elsewhere, because Tributary is not a registrar. */
export async function registerDomain(ctx: Ctx, name: string, isProved?: boolean) {
  const domain = await create(ctx, { slug: name }, '`domain` in the body', isProved)
  reportChange(ctx, { id: domain.id, after: { slug: domain.slug } })
  return { domain: domain.slug, status: domain.verified ? 'active' : 'pending', expiration: null }
}

/** Adds a domain within the plan's limit and publishes the change; undefined when its name is taken. */
export async function insertAnnounced(
  ctx: Omit<DomainCtx, 'now'>,
  row: Omit<NewDomainRow, 'id' | 'workspace_id'>,
): Promise<DomainRow | undefined> {
  return transaction(ctx, async (ctx) => {
    await lockDomains(ctx.db, ctx.workspaceId)
    await requireRoom(ctx, 'domains', () => countDomains(ctx.db, ctx.workspaceId))
    const domain = await insertDomain(ctx.db, { ...row, id: newId('dom'), workspace_id: ctx.workspaceId })
    if (domain) await announce(ctx, changed(domain.slug))
    return domain
  })
}

async function create(ctx: Ctx, input: NewDomain, field: string, isProved?: boolean): Promise<DomainRow> {
  const slug = parseHost(input.slug)
  const problem = hostProblem(slug, ctx.config)
  if (slug === undefined || problem) throw invalid(`${field} ${problem}.`)
  const settings = settingsProblem(input)
  if (settings) throw invalid(settings)
  const row = { ...domainColumns(input), slug, archived: input.archived ?? false, check_at: ctx.now() }
  for (let attempt = 0; attempt < attempts; attempt++) {
    const holder = await selectDomainBySlug(ctx.db, slug)
    if (holder?.workspace_id === ctx.workspaceId) throw conflict(`This workspace already has the domain ${slug}.`)
    if (holder && !(isProved ?? (await proveTakeover(ctx, slug)))) throw taken(ctx, slug)
    const domain = await (holder ? takeOver(ctx, holder, row) : insertAnnounced(ctx, { ...row, verified: false }))
    if (domain) return domain
  }
  throw conflict(`Another workspace is adding the domain ${slug} at this moment. Retry the request.`)
}

/** Moves a domain from another workspace to this one; undefined when the other workspace no longer has it. */
function takeOver(ctx: Ctx, holder: DomainRow, row: Omit<NewDomainRow, 'id' | 'workspace_id' | 'verified'>) {
  return transaction(ctx, async (ctx) => {
    await lockDomains(ctx.db, ctx.workspaceId, holder.workspace_id)
    const theirs = { ...ctx, workspaceId: holder.workspace_id }
    if (!(await giveUpDomain(theirs, { slug: holder.slug, id: holder.id }))) return undefined
    const proved = { verified: true, checks: 1, checked_at: ctx.now(), check_result: 'verified by TXT' }
    const domain = await insertAnnounced(ctx, { ...row, ...proved })
    if (!domain) throw new Error(`${holder.slug} was added by another workspace during the takeover`)
    return domain
  })
}

function taken(ctx: Ctx, slug: string) {
  const [record] = recordsFor(ctx.config, ctx.workspaceId, slug)
  return conflict(
    `Another workspace has the domain ${slug}. If it is yours, set the ${record?.type} record ${record?.name} ` +
      `to ${record?.value} and add the domain again.`,
  )
}
