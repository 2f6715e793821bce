import type { Domain as DomainShape, DomainsQuery } from '@tributary/contract/domains'
import type { Ctx, Platform } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { insertAnnounced } from './add.ts'
import type { DomainCtx } from './announce.ts'
import { checkDomain } from './check.ts'
import { hostProblem, parseHost, soughtHost } from './host.ts'
import { presentDomain } from './present.ts'
import { recordsFor } from './records.ts'
import {
  type DomainRow,
  hastenCheck,
  selectDomain,
  selectDomainBySlug,
  selectDomains,
  selectPrimaryDomain,
  selectVerifiedSlugs,
} from './store.ts'

export type Domain = DomainRow

// A reader of the records has often just entered them.
const hasteMs = 10_000
const operatorsWord = 'verified by the operator'

/** For the operator: requires no proof of ownership. */
export async function addDomain(
  platform: Pick<Platform, 'db' | 'config'>,
  input: { workspaceId: string; slug: string },
): Promise<Domain> {
  const slug = parseHost(input.slug)
  if (slug === undefined) throw invalid(`${JSON.stringify(input.slug)} is not a host name.`)
  const problem = hostProblem(slug, platform.config)
  if (problem) throw invalid(`${JSON.stringify(input.slug)} ${problem}.`)
  const ctx = { db: platform.db, config: platform.config, workspaceId: input.workspaceId }
  const domain = await insertAnnounced(ctx, { slug, verified: true, check_result: operatorsWord })
  if (!domain) throw conflict(`The domain ${slug} is already in use.`)
  return domain
}

export async function listDomains(ctx: DomainCtx, query: DomainsQuery): Promise<DomainShape[]> {
  const rows = await selectDomains(ctx.db, ctx.workspaceId, {
    archived: query.archived,
    search: query.search?.toLowerCase(),
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map(presentDomain)
}

/** For the operator: asks DNS at once, or trusts the domain. */
export async function verifyDomain(ctx: DomainCtx, slug: string, trust: boolean): Promise<Domain> {
  const domain = await requireDomain(ctx, slug)
  if (domain.verified) return domain
  const finding = trust ? { verified: true, result: operatorsWord } : undefined
  return (await checkDomain(ctx, domain, finding)) ?? requireDomain(ctx, slug)
}

/** Returns the records to enter at the DNS provider. DNS is checked again soon, unless it just was. */
export async function getDomainRecords(ctx: DomainCtx, slug: string) {
  const domain = await requireDomain(ctx, slug)
  const now = ctx.now()
  const checkedMs = domain.checked_at?.getTime() ?? 0
  if (!domain.verified) await hastenCheck(ctx.db, ctx.workspaceId, domain.id, later(now, checkedMs + hasteMs))
  return {
    slug: domain.slug,
    verified: domain.verified,
    checkedAt: domain.checked_at?.toISOString() ?? '',
    result: domain.check_result ?? '',
    records: recordsFor(ctx.config, ctx.workspaceId, domain.slug),
  }
}

/** A name is available unless it is verified: a workspace that only claimed a name loses it to one that proves it. */
export async function checkDomainStatus(ctx: DomainCtx, names: string[]) {
  if (names.length === 0) throw invalid('`domains` in the query must name at least one domain.')
  const slugs = names.map((name) => {
    const slug = parseHost(name)
    if (slug === undefined) throw invalid(`\`domains\` in the query: ${JSON.stringify(name)} is not a host name.`)
    return slug
  })
  const verified = await selectVerifiedSlugs(ctx.db, slugs)
  return slugs.map((slug) => ({
    domain: slug,
    available: !verified.includes(slug) && hostProblem(slug, ctx.config) === undefined,
    premium: null,
    prices: null,
    price: null,
  }))
}

/** The domain for a new link: the requested one, else the primary one, else the shared one. */
export async function domainForLink(ctx: Ctx, asked: string | undefined): Promise<string> {
  if (asked === undefined) return (await selectPrimaryDomain(ctx.db, ctx.workspaceId)) ?? ctx.config.SHORT_DOMAIN
  const slug = soughtHost(asked)
  if (slug === ctx.config.SHORT_DOMAIN) return slug
  if (!(await selectDomain(ctx.db, ctx.workspaceId, slug))) throw notFound('domain', slug)
  return slug
}

export async function hasDomain(ctx: Pick<Ctx, 'db' | 'workspaceId'>, slug: string): Promise<boolean> {
  return (await selectDomain(ctx.db, ctx.workspaceId, slug)) !== undefined
}

/** The redirect's view of a host, in a form that survives JSON. */
export type RedirectDomain = {
  /** Changes when the host gets another owner, so that nothing cached under the old one is found. */
  id: string
  /** Only this workspace's links are served. Absent on the shared domain, which serves all. */
  workspaceId?: string
  slug: string
  notFoundUrl: string | null
  expiredUrl: string | null
  assetLinks: string | null
  appleAppSiteAssociation: string | null
}

export async function findDomainForRedirect(
  platform: Pick<Platform, 'db' | 'config'>,
  slug: string,
): Promise<RedirectDomain | null> {
  const row = await selectDomainBySlug(platform.db, slug)
  if (!row && slug !== platform.config.SHORT_DOMAIN) return null
  return {
    id: row?.id ?? 'shared',
    workspaceId: row?.workspace_id,
    slug,
    notFoundUrl: normalizeUrl(row?.not_found_url),
    expiredUrl: normalizeUrl(row?.expired_url),
    assetLinks: row?.asset_links ?? null,
    appleAppSiteAssociation: row?.apple_app_site_association ?? null,
  }
}

async function requireDomain(ctx: Pick<DomainCtx, 'db' | 'workspaceId'>, slug: string): Promise<Domain> {
  const domain = await selectDomain(ctx.db, ctx.workspaceId, soughtHost(slug))
  if (!domain) throw notFound('domain', soughtHost(slug))
  return domain
}

/** As it goes into a header. */
function normalizeUrl(url: string | null | undefined): string | null {
  return url ? new URL(url).href : null
}

function later(one: Date, otherMs: number): Date {
  return new Date(Math.max(one.getTime(), otherMs))
}
