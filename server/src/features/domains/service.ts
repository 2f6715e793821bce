import type { Domain as DomainShape, DomainStatus, DomainsQuery } from '@tributary/contract/domains'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Config } from '../../platform/config.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { memoByObject } from '../../platform/memo.ts'
import { liveWorkspaceCondition } from '../workspaces/service.ts'
import { insertAnnounced } from './add.ts'
import type { DomainCtx } from './announce.ts'
import { updateDomain } from './change.ts'
import { checkDomain } from './check.ts'
import { hostProblem, parseHost, soughtHost } from './host.ts'
import { presentDomain } from './present.ts'
import { readStatus, refreshStatus } from './status.ts'
import {
  countDomains,
  type DomainColumns,
  type DomainRow,
  existsVerifiedDomain,
  hastenCheck,
  linkDomainCondition,
  selectDomain,
  selectDomains,
  selectLiveDomain,
  selectPrimaryDomain,
  selectVerifiedSlugs,
} from './store.ts'
import { type BrokenRow, selectBroken } from './watch-store.ts'

export type Domain = DomainRow
export type BrokenDomain = BrokenRow

// A client that reads the DNS records has often just set them, so DNS is checked again after this time.
const hasteMs = 10_000
const operatorsWord = 'verified by the operator'

/** Adds a domain for the operator, without proof of ownership. */
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

/** Makes a domain of the workspace the primary one. */
export async function makePrimary(ctx: DomainCtx, slug: string): Promise<void> {
  await updateDomain(ctx, slug, { primary: true })
}

/** The workspace's primary domain; null without domains. */
export async function primaryDomain(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<string | null> {
  return (await selectPrimaryDomain(ctx.db, ctx.workspaceId)) ?? null
}

export function domainCount(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return countDomains(ctx.db, ctx.workspaceId)
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

/** Verifies a domain for the operator: by DNS at once or, with `trust`, without a check. */
export async function verifyDomain(ctx: DomainCtx, slug: string, trust: boolean): Promise<Domain> {
  const domain = await requireDomain(ctx, slug)
  if (domain.verified) return domain
  const finding = trust ? { verified: true, result: operatorsWord } : undefined
  return (await checkDomain(ctx, domain, finding)) ?? requireDomain(ctx, slug)
}

/** Returns the DNS records to set for a domain, and schedules a DNS check soon. */
export async function getDomainRecords(ctx: DomainCtx, slug: string): Promise<DomainStatus> {
  const domain = await requireDomain(ctx, slug)
  const now = ctx.now()
  const checkedMs = domain.checked_at?.getTime() ?? 0
  if (!domain.verified) await hastenCheck(ctx.db, ctx.workspaceId, domain.id, later(now, checkedMs + hasteMs))
  return readStatus(ctx, domain)
}

/** Looks up the records and the certificate of a domain now. */
export async function recheckDomain(ctx: DomainCtx, slug: string): Promise<DomainStatus> {
  return refreshStatus(ctx, await requireDomain(ctx, slug))
}

/** A domain is available unless verified: an unverified domain goes to the first workspace that proves ownership. */
export async function checkDomainStatus(ctx: DomainCtx, names: string[]) {
  if (names.length === 0) throw invalid('`domains` in the query must contain at least one domain.')
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

/** The domain of a new link: the requested domain, else the workspace's primary domain, else SHORT_DOMAIN. */
export async function domainForLink(ctx: Ctx, asked: string | undefined): Promise<string> {
  if (asked === undefined) return (await selectPrimaryDomain(ctx.db, ctx.workspaceId)) ?? ctx.config.SHORT_DOMAIN
  const slug = soughtHost(asked)
  if (slug === ctx.config.SHORT_DOMAIN) return slug
  if (!(await selectDomain(ctx.db, ctx.workspaceId, slug))) throw notFound('domain', slug)
  return slug
}

/** A guess of the domain of a new link, which `domainCondition` checks: a default domain is cached for a minute. */
export async function guessLinkDomain(ctx: Ctx, asked: string | undefined): Promise<string> {
  if (asked !== undefined) return soughtHost(asked)
  const known = defaultDomains(ctx.config)
  const domain = known.get(ctx.workspaceId) ?? (await domainForLink(ctx, undefined))
  known.set(ctx.workspaceId, domain)
  return domain
}

export function forgetLinkDomain({ config, workspaceId }: Pick<Ctx, 'config' | 'workspaceId'>): void {
  defaultDomains(config).delete(workspaceId)
}

const defaultDomains = memoByObject((_: Config) => openByteCache<string>({ maxBytes: 4_000_000, ttlMs: 60_000 }))

/** The SQL condition that a new link may use its domain; the columns are SQL, too. */
export function domainCondition(columns: DomainColumns): string {
  return linkDomainCondition(columns)
}

export async function hasDomain(ctx: Pick<Ctx, 'db' | 'workspaceId'>, slug: string): Promise<boolean> {
  return (await selectDomain(ctx.db, ctx.workspaceId, slug)) !== undefined
}

/** The domain fields that the redirect needs, serializable as JSON. */
export type RedirectDomain = {
  /** The domain's id; it changes with the owner, so that links cached for the former owner are not found. */
  id: string
  /** The workspace whose links the domain serves; absent on SHORT_DOMAIN, which serves links of all workspaces. */
  workspaceId?: string
  slug: string
  notFoundUrl: string | null
  expiredUrl: string | null
  assetLinks: string | null
  appleAppSiteAssociation: string | null
}

const liveDomain = liveWorkspaceCondition({ workspace: 'd.workspace_id' })

export async function findDomainForRedirect(
  platform: Pick<Platform, 'db' | 'config'>,
  slug: string,
): Promise<RedirectDomain | null> {
  const row = await selectLiveDomain(platform.db, slug, liveDomain)
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

export function hasVerifiedDomain(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<boolean> {
  return existsVerifiedDomain(ctx.db, ctx.workspaceId)
}

/** The id of a domain of the workspace; null for the shared domain. */
export async function findDomainId(ctx: Pick<Ctx, 'db' | 'workspaceId'>, slug: string): Promise<string | null> {
  return (await selectDomain(ctx.db, ctx.workspaceId, slug))?.id ?? null
}

/** The domain with this id, if visitors no longer reach it. */
export function findBrokenDomain(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  domainId: string,
): Promise<BrokenDomain | undefined> {
  return selectBroken(ctx.db, ctx.workspaceId, domainId)
}

/** Finds a domain by host name; throws 404 when the workspace has none. */
export async function requireDomain(ctx: Pick<DomainCtx, 'db' | 'workspaceId'>, slug: string): Promise<Domain> {
  const domain = await selectDomain(ctx.db, ctx.workspaceId, soughtHost(slug))
  if (!domain) throw notFound('domain', soughtHost(slug))
  return domain
}

/** Normalizes a URL for the `Location` header. */
function normalizeUrl(url: string | null | undefined): string | null {
  return url ? new URL(url).href : null
}

function later(one: Date, otherMs: number): Date {
  return new Date(Math.max(one.getTime(), otherMs))
}
