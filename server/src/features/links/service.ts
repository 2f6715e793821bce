import type { Link, LinkPatch, NewLink } from '@tributary/contract/links'
import type { TrackedLink } from '@tributary/contract/track'
import type { Ctx, Platform } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { requireTag } from '../../platform/validation.ts'
import type { FolderDeleted } from '../folders/messages.ts'
import { hiddenFolders } from '../folders/service.ts'
import { type DueTest, finishTest, openTests } from './ab-tests.ts'
import { findLink, findLinksByNumber, requireLinkForUpdate } from './access.ts'
import { findPublicLink as findPublic, linkByAddress } from './by-address.ts'
import {
  addClickCounts,
  addConversionCounts,
  type ClickCount,
  type ConversionCount,
  replaceClickCounts,
  replaceConversionCounts,
  type TrueCount,
} from './counters-store.ts'
import { createOne } from './create.ts'
import { restoreLinks } from './deleted.ts'
import { keyProblem, lookupKey, rootKey } from './key.ts'
import { selectMatching } from './list.ts'
import {
  type ChangedLink,
  changeLinks,
  type LinksChange as ManyChange,
  type LinkOutcome as ManyOutcome,
  previewLinks,
  resolveTimes,
  revertLinks,
} from './many.ts'
import { selectWithinBytes } from './many-store.ts'
import type { LinkChanged } from './messages.ts'
import { addClicksOfPartners, recountPartners } from './partner-clicks.ts'
import { disablePartnerLinks, enablePartnerLinks, linksByPartner, movePartnerLinks } from './partner-links.ts'
import * as owners from './partners-store.ts'
import { buildShortLink, linkTag, presentAll, type RedirectView, redirectView, trackedLink } from './present.ts'
import { parseExternalId, parseLinkName } from './settings.ts'
import {
  existsLink,
  leaveFolder,
  renewVersions,
  replaceWebhookOfLinks,
  selectCounters,
  selectLinksByNumber,
  selectNumbersById,
  selectNumbersInFolders,
} from './store.ts'
import { type LinkTitle, readTitles } from './titles.ts'
import { selectNumbersByName } from './titles-store.ts'
import { repairTotalDifferences, selectTotalDifferences, type TotalDifference } from './totals-store.ts'
import { upsertLink } from './upsert.ts'
import { changeLink, changeMessage, describeChange, publishAll, removeLinks } from './write.ts'

// A link key has at most 190 characters, and NFC and lowercasing can triple its length.
const longestLookupKey = 3 * 190
const linksAtOnce = 500

export function createLink(ctx: Ctx, input: NewLink): Promise<Link> {
  return createOne(ctx, input)
}

/** Updates a link; with `expected`, only if the entity tag of the link is one of those. */
export async function updateLink(ctx: Ctx, idOrExternalId: string, patch: LinkPatch, expected = ''): Promise<Link> {
  const row = await transaction(ctx, async (ctx) => {
    const link = await requireLinkForUpdate(ctx, parseLinkName(idOrExternalId), idOrExternalId)
    if (expected !== '') requireTag(expected, linkTag((await presentAll(ctx, [link]))[0] as Link))
    return changeLink(ctx, link, patch)
  })
  return (await presentAll(ctx, [row]))[0] as Link
}

export async function deleteLink(ctx: Ctx, idOrExternalId: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const link = await requireLinkForUpdate(ctx, parseLinkName(idOrExternalId), idOrExternalId)
    await removeLinks(ctx, [link.number])
    return { id: link.id }
  })
}

export function hasLinks({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>): Promise<boolean> {
  return existsLink(db, workspaceId)
}

export type LinkAddress = { number: bigint; id: string; domain: string; shortLink: string }

/** Finds a link that the caller may read; throws 404 when there is none. With `isChange`, locks one that it may change. */
export async function requireLinkAddress(
  ctx: Ctx,
  idOrExternalId: string,
  { isChange }: { isChange: boolean },
): Promise<LinkAddress> {
  const selector = parseLinkName(idOrExternalId)
  const row = isChange ? await requireLinkForUpdate(ctx, selector, idOrExternalId) : await findLink(ctx, selector)
  if (!row) throw notFound('link', idOrExternalId)
  return { number: row.number, id: row.id, domain: row.domain, shortLink: buildShortLink(row) }
}

/** Links by number that the caller may read, including deleted ones, or with `inUse` only those that visitors can use. */
export async function linksByNumber(ctx: Ctx, numbers: bigint[], which?: 'inUse'): Promise<Map<bigint, Link>> {
  const rows = await findLinksByNumber(ctx, numbers, which)
  const links = await presentAll(ctx, rows)
  return new Map(rows.map((row, index) => [row.number, links[index] as Link]))
}

/** Those of the links that the caller may not read, because of their folder. */
export async function hiddenLinkNumbers(ctx: Ctx, numbers: bigint[]): Promise<Set<bigint>> {
  const hidden = hiddenFolders(ctx)
  return new Set(hidden.length === 0 ? [] : await selectNumbersInFolders(ctx.db, ctx.workspaceId, numbers, hidden))
}

/** What a list of many links shows of each, by link number; includes deleted links. */
export function linkTitles(ctx: Ctx, numbers: bigint[]): Promise<Map<string, LinkTitle>> {
  return readTitles(ctx, numbers)
}

/** The links with these ids or, prefixed with `ext_`, external ids, in the same order; unknown ones are omitted. */
export async function linkNumbersByName(ctx: Ctx, names: string[]): Promise<{ id: string; number: bigint }[]> {
  const selectors = names.map(parseLinkName)
  const ids = selectors.flatMap((selector) => ('id' in selector ? selector.id : []))
  const externalIds = selectors.flatMap((selector) => ('externalId' in selector ? selector.externalId : []))
  const rows = await selectNumbersByName(ctx.db, ctx.workspaceId, {
    ids,
    externalIds,
    hiddenFolders: hiddenFolders(ctx),
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byExternalId = new Map(rows.map((row) => [row.external_id, row]))
  const found = selectors.map((selector) =>
    'id' in selector ? byId.get(selector.id) : byExternalId.get('externalId' in selector ? selector.externalId : ''),
  )
  return [...new Set(found.filter((row) => row !== undefined))].map(({ id, number }) => ({ id, number }))
}

/** The numbers of the links with these ids, this external id or this domain and key; empty when there are none. */
export async function linkNumbers(
  ctx: Ctx,
  by: { ids: string[] } | { externalId: string } | { domain: string; key: string },
): Promise<bigint[]> {
  if ('ids' in by) return selectNumbersById(ctx.db, ctx.workspaceId, by.ids, hiddenFolders(ctx))
  const selector =
    'externalId' in by
      ? { externalId: parseExternalId(by.externalId) }
      : { domain: by.domain.toLowerCase(), lookupKey: lookupKey(by.key) }
  const row = await findLink(ctx, selector)
  return row ? [row.number] : []
}

export function formatShortLink(address: { domain: string; key: string }): string {
  return buildShortLink(address)
}

/** Adds clicks to the counters of links, and to the totals of their partners. Call it in a transaction. */
export async function countClicks(platform: Pick<Platform, 'db'>, counts: ClickCount[]): Promise<void> {
  await addClickCounts(platform.db, counts)
  await addClicksOfPartners(platform, counts)
}

export async function countConversions(platform: Pick<Platform, 'db'>, counts: ConversionCount[]): Promise<void> {
  if (counts.length > 0) await addConversionCounts(platform.db, counts)
}

/** The link that a new lead or sale is attributed to; undefined when the link is deleted or disabled. */
export async function linkForConversion(ctx: Ctx, number: bigint): Promise<TrackedLink | undefined> {
  const [row] = await selectLinksByNumber(ctx.db, ctx.workspaceId, [number])
  return row && row.deleted_at === null && row.disabled_at === null ? trackedLink(row) : undefined
}

/** The SQL condition that a link belongs to a partner and can get leads and sales; the arguments are SQL. */
export function partnerLinkCondition(columns: Record<'workspace' | 'number' | 'partnerId', string>): string {
  return owners.ownedBy(columns)
}

export type CountedLink = {
  linkNumber: bigint
  id: string
  workspaceId: string
  address: string
  clicks: number
} & Record<'leads' | 'conversions' | 'sales' | 'saleAmount', number>

/** Links above the number `after` with their counters, including deleted links, and the highest link number. */
export async function countedLinks(
  platform: Pick<Platform, 'db'>,
  { workspaceId, after, count }: { workspaceId?: string; after: bigint; count: number },
): Promise<{ links: CountedLink[]; highest: bigint }> {
  const rows = await selectCounters(platform.db, workspaceId, after, count)
  const links = rows.map(({ number, id, workspace_id, domain, key, ...counts }) => ({
    linkNumber: number,
    id,
    workspaceId: workspace_id,
    address: key === rootKey ? domain : `${domain}/${key}`,
    clicks: Number(counts.clicks),
    leads: Number(counts.leads),
    conversions: Number(counts.conversions),
    sales: Number(counts.sales),
    saleAmount: Number(counts.sale_amount),
  }))
  return { links, highest: rows[0]?.highest ?? 0n }
}

/** Links above the number `after` as messages about their current state, including deleted links. */
export async function linksAtEvent(
  platform: Pick<Platform, 'db'>,
  after: bigint,
  count: number,
): Promise<LinkChanged[]> {
  const links = await selectCounters(platform.db, undefined, after, count)
  const changes = new Map<bigint, LinkChanged>()
  for (const [workspaceId, mine] of Map.groupBy(links, ({ workspace_id }) => workspace_id)) {
    const numbers = mine.map(({ number }) => number)
    for (const row of await selectLinksByNumber(platform.db, workspaceId, numbers))
      changes.set(row.number, describeChange(row))
  }
  return links.flatMap(({ number }) => changes.get(number) ?? [])
}

export async function correctClicks(platform: Pick<Platform, 'db'>, counts: TrueCount[]): Promise<void> {
  const numbers = counts.map((count) => BigInt(count.link_number))
  await replaceClickCounts(platform.db, counts)
  await recountPartners(platform, numbers)
}

export function correctConversions(
  platform: Pick<Platform, 'db'>,
  counts: Parameters<typeof replaceConversionCounts>[1],
): Promise<void> {
  return replaceConversionCounts(platform.db, counts)
}

/** The stored totals that differ from the number of links; with `repair` it corrects them. */
export function compareTotals(
  platform: Pick<Platform, 'db'>,
  { workspaceId, repair }: { workspaceId?: string; repair: boolean },
): Promise<TotalDifference[]> {
  if (!repair) return selectTotalDifferences(platform.db, workspaceId)
  return transaction(platform, ({ db }) => repairTotalDifferences(db, workspaceId))
}

/** Replaces the set of links that have this webhook in their `webhookIds`. */
export async function assignWebhook(ctx: Ctx, webhookId: string, linkIds: string[]): Promise<void> {
  const named = await linkNumbersByName(ctx, linkIds)
  const known = new Set(named.map(({ id }) => id))
  const found = await replaceWebhookOfLinks(ctx.db, ctx.workspaceId, webhookId, [...known])
  const missing = linkIds.filter((id) => !found.includes(id))
  if (missing.length === 0) return
  throw invalid(`\`linkIds\` in the body names links that do not exist: ${missing.slice(0, 10).join(', ')}.`)
}

/** The numbers of up to `most` links of partners. */
export async function partnerLinkNumbers(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  partnerIds: string[],
  most: number,
): Promise<bigint[]> {
  return partnerIds.length === 0 ? [] : owners.selectPartnerLinkNumbers(db, workspaceId, partnerIds, most)
}

/** Those of the links, of any workspace, that belong to a partner. */
export async function linksWithPartner({ db }: Pick<Platform, 'db'>, numbers: bigint[]): Promise<bigint[]> {
  return (await owners.selectPartnersOfLinks(db, numbers)).map(({ number }) => number)
}

/** SQL that selects the numbers of all links of a partner or a program, including deleted links. */
export function ownedLinks({ workspaceId }: Pick<Ctx, 'workspaceId'>, owner: owners.LinkOwner) {
  return owners.ownedLinksFragment(workspaceId, owner)
}

/** The newest links of each partner, up to `most`, by partner id. */
export function partnerLinks(ctx: Ctx, partnerIds: string[], most: { links: number; urlBytes: number }) {
  return linksByPartner(ctx, partnerIds, most)
}

export function countPartnerLinks(ctx: Ctx, partnerId: string): Promise<number> {
  return owners.countLinksOfPartner(ctx.db, ctx.workspaceId, partnerId)
}

/** The number of a link, and the partner that it belongs to. Throws 404 when the link does not exist. */
export async function requireLinkOwner(
  ctx: Ctx,
  idOrExternalId: string,
): Promise<{ number: bigint; partnerId: string | null }> {
  const row = await findLink(ctx, parseLinkName(idOrExternalId))
  if (!row) throw notFound('link', idOrExternalId)
  return { number: row.number, partnerId: row.partner_id }
}

/** Updates the partner's newest link with this destination, or creates one. */
export function upsertPartnerLink(ctx: Ctx, input: NewLink & { partnerId: string }): Promise<Link> {
  return upsertLink(ctx, input, input.partnerId)
}

/** Disables the partner's enabled links. `enableLinks` with the same time enables them; call both in a transaction. */
export function disableLinks(ctx: Ctx, partnerId: string, at: Date): Promise<void> {
  return disablePartnerLinks(ctx, partnerId, at)
}

/** Enables the partner's links that were disabled at one of these times. */
export function enableLinks(ctx: Ctx, partnerId: string, times: Date[]): Promise<void> {
  return enablePartnerLinks(ctx, partnerId, times)
}

/** Gives all links of one partner to another. Call it in a transaction. */
export function giveLinks(ctx: Ctx, from: string, to: { id: string; tenantId: string | null }): Promise<void> {
  return movePartnerLinks(ctx, from, to)
}

/** Publishes the current state of links, so that caches and ClickHouse update. Returns the numbers that exist. */
export function announceAgain(ctx: Ctx, numbers: bigint[]): Promise<bigint[]> {
  return transaction(ctx, async (ctx) => {
    const found = await renewVersions(ctx.db, ctx.workspaceId, numbers)
    const rows = await selectLinksByNumber(ctx.db, ctx.workspaceId, found)
    await publishAll(
      ctx,
      rows.map((row) => changeMessage(ctx, row)),
    )
    return found
  })
}

export type LinksChange = ManyChange
export type LinkOutcome = ManyOutcome

/** SQL that selects the numbers of the links that match a filter, and that the caller may read. */
export function matchingLinks(ctx: Ctx, query: Parameters<typeof selectMatching>[1]) {
  return selectMatching(ctx, query)
}

/** The first of the numbers whose links have at most this many bytes together. */
export function linksWithinBytes({ db, workspaceId }: Ctx, numbers: bigint[], mostBytes: number): Promise<bigint[]> {
  return selectWithinBytes(db, workspaceId, numbers, mostBytes)
}

/** Links before and after a change; throws when the change is invalid for all links. */
export function previewChange(ctx: Ctx, numbers: bigint[], change: LinksChange) {
  return previewLinks(ctx, numbers, change)
}

/** Validates settings of links, and replaces words such as `in 3 days` by the time that they mean now. */
export function fixTimes(data: Parameters<typeof resolveTimes>[0], now: Date) {
  return resolveTimes(data, now)
}

/** Changes those of the links that it can change, with few statements. Call it in a transaction. */
export function changeManyLinks(ctx: Ctx, numbers: bigint[], change: LinksChange): Promise<LinkOutcome[]> {
  return changeLinks(ctx, numbers, change)
}

/** Undoes a change of links: those that somebody has changed since stay as they are and have a problem. */
export function undoManyLinks(ctx: Ctx, items: ChangedLink[]): Promise<LinkOutcome[]> {
  const deletions = items.flatMap(({ number, after }) =>
    typeof after.deleted_at === 'string' ? { number, deletedAt: after.deleted_at } : [],
  )
  return deletions.length > 0 ? restoreLinks(ctx, deletions) : revertLinks(ctx, items)
}

/** Removes links from deleted folders, in batches because a folder may have very many links. */
export async function leaveFolders(platform: Pick<Platform, 'db'>, deleted: FolderDeleted[]): Promise<void> {
  for (const { workspaceId, folderId } of deleted) {
    while ((await leaveFolder(platform.db, workspaceId, folderId, linksAtOnce)) === linksAtOnce);
  }
}

/** A/B tests whose end has passed and that have no result yet. */
export function dueTests(platform: Platform): Promise<DueTest[]> {
  return openTests(platform)
}

/** Ends an A/B test; `url` is the winning destination, if any. */
export function finishAbTest(platform: Platform, test: DueTest, url: string | undefined): Promise<void> {
  return finishTest(platform, test, url)
}

/** The lookup key of a requested path; null when no link can have it. */
export function addressedKey(path: string): string | null {
  const key = lookupKey(path)
  if (key === '') return rootKey
  return key.length > longestLookupKey || key === rootKey || keyProblem(key) ? null : key
}

export type RedirectLink = RedirectView

export async function findForRedirect(
  platform: Pick<Platform, 'db'>,
  domain: string,
  key: string,
): Promise<RedirectLink | null> {
  const row = await linkByAddress(platform, domain, key)
  return row ? redirectView(row) : null
}

/** The link with this address or id; undefined unless its statistics are public. */
export const findPublicLink = findPublic
