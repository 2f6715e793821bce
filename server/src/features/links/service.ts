import type { Link, listLinks as listLinksOperation, NewLink } from '@tributary/contract/links'
import type { z } from 'zod'
import type { Ctx, Platform } from '../../platform/context.ts'
import { conflict, invalid } from '../../platform/errors.ts'
import { newId, partitionOf } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { domainForLink } from '../domains/service.ts'
import { keyProblem, lookupKey, normalKey, randomKey, rootKey } from './key.ts'
import { type LinkChanged, linkChangedMessage } from './messages.ts'
import { presentLink } from './present.ts'
import {
  addClickCounts,
  type ClickCount,
  insertLink,
  type LinkRow,
  type NewLinkRow,
  selectLinkByAddress,
  selectLinkNumbers,
  selectLinks,
  selectLinksByNumber,
} from './store.ts'
import { urlProblem } from './url.ts'

// A key has 190 characters; composing and lower case can make each of them three.
const longestLookupKey = 3 * 190

type LinkFilter = z.output<typeof listLinksOperation.query>

export async function createLink(ctx: Ctx, input: NewLink): Promise<Link> {
  const problem = urlProblem(input.url)
  if (problem) throw invalid(`\`url\` in the body ${problem}.`)
  const domain = await domainForLink(ctx, input.domain)
  const row = {
    id: newId('link'),
    workspace_id: ctx.workspaceId,
    domain,
    url: input.url,
    track_conversion: input.trackConversion,
    external_id: input.externalId?.replace(/^ext_/, '') || null,
  }
  const link = input.key === undefined ? await insertWithRandomKey(ctx, row) : await insertWithKey(ctx, row, input.key)
  return presentLink(link, ctx.config.API_URL)
}

export async function listLinks(ctx: Ctx, query: LinkFilter): Promise<Link[]> {
  const rows = await selectLinks(ctx.db, ctx.workspaceId, {
    domain: query.domain?.toLowerCase(),
    search: query.search,
    archived: query.showArchived,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map((row) => presentLink(row, ctx.config.API_URL))
}

export async function linksByNumber(ctx: Ctx, numbers: bigint[]): Promise<Map<bigint, Link>> {
  const rows = await selectLinksByNumber(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.number, presentLink(row, ctx.config.API_URL)]))
}

/** Numbers of the links that a query names; empty when the workspace has none of them. */
export function linkNumbers(
  ctx: Ctx,
  by: { ids: string[] } | { externalId: string } | { domain: string; key: string },
): Promise<bigint[]> {
  if ('ids' in by) return selectLinkNumbers(ctx.db, ctx.workspaceId, by)
  if ('externalId' in by)
    return selectLinkNumbers(ctx.db, ctx.workspaceId, { externalId: by.externalId.replace(/^ext_/, '') })
  return selectLinkNumbers(ctx.db, ctx.workspaceId, { domain: by.domain.toLowerCase(), lookupKey: lookupKey(by.key) })
}

export type RedirectLink = {
  number: string
  id: string
  workspaceId: string
  url: string
  trackConversion: boolean
  expiresAt: number | null
  expiredUrl: string | null
  disabledAt: number | null
}

/** What the redirect has to know, in a form that survives JSON. */
export async function findForRedirect(
  platform: Pick<Platform, 'db'>,
  domain: string,
  key: string,
): Promise<RedirectLink | null> {
  const row = await selectLinkByAddress(platform.db, domain, key)
  if (!row) return null
  return {
    number: String(row.number),
    id: row.id,
    workspaceId: row.workspace_id,
    url: new URL(row.url).href,
    trackConversion: row.track_conversion,
    expiresAt: row.expires_at?.getTime() ?? null,
    expiredUrl: row.expired_url && new URL(row.expired_url).href,
    disabledAt: row.disabled_at?.getTime() ?? null,
  }
}

/** The key that an address asks for, as it is matched; null when no link can have it, so nobody needs to look. */
export function addressedKey(path: string): string | null {
  const key = lookupKey(path)
  if (key === '') return rootKey
  return key.length > longestLookupKey || keyProblem(key) ? null : key
}

export function countClicks(platform: Pick<Platform, 'db'>, counts: ClickCount[]): Promise<void> {
  return addClickCounts(platform.db, counts)
}

async function insertWithKey(ctx: Ctx, row: Omit<NewLinkRow, 'key' | 'lookup_key'>, asked: string): Promise<LinkRow> {
  const key = normalKey(asked)
  const problem = keyProblem(key)
  if (problem) throw invalid(`\`key\` in the body ${problem}.`)
  const link = await tryInsert(ctx, { ...row, key, lookup_key: lookupKey(key) })
  if (!link) throw conflict(`${row.domain}/${key} is already taken. Choose another key.`)
  return link
}

async function insertWithRandomKey(ctx: Ctx, row: Omit<NewLinkRow, 'key' | 'lookup_key'>): Promise<LinkRow> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const key = randomKey()
    const link = await tryInsert(ctx, { ...row, key, lookup_key: lookupKey(key) })
    if (link) return link
  }
  throw new Error(`No free random key on ${row.domain} after ten attempts`)
}

/** Undefined when the address is taken. */
async function tryInsert(ctx: Ctx, row: NewLinkRow): Promise<LinkRow | undefined> {
  try {
    return await transaction(ctx, async (ctx) => {
      const link = await insertLink(ctx.db, row)
      await publish(ctx, linkChangedMessage(changeOf(link), partitionOf(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)))
      return link
    })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'links_domain_key') return undefined
    if (constraint === 'links_external_id')
      throw conflict(`Another link already has the externalId ${row.external_id}.`)
    throw error
  }
}

function changeOf(row: LinkRow): LinkChanged {
  return {
    workspaceId: row.workspace_id,
    linkNumber: String(row.number),
    domain: row.domain,
    lookupKey: row.lookup_key,
    isRoot: row.key === rootKey,
    folderId: row.folder_id ?? '',
    tenantId: row.tenant_id ?? '',
    partnerId: row.partner_id ?? '',
    tagIds: [],
    deleted: false,
    version: row.updated_at.getTime(),
  }
}
