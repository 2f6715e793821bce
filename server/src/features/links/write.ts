import type { Link, LinkPatch, NewLink } from '@tributary/contract/links'
import { type Ctx, findUserId } from '../../platform/context.ts'
import { conflict, invalid } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { type Message, publish } from '../../platform/outbox.ts'
import { violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { domainForLink, hasDomain } from '../domains/service.ts'
import { requireFolderWrite } from '../folders/service.ts'
import { requireStorageRoom } from '../workspaces/service.ts'
import { keyProblem, lookupKey, normalKey, randomKey, rootKey, sharedKeyProblem } from './key.ts'
import { type LinkChanged, type LinkEvent, linkChangedMessage } from './messages.ts'
import { partnerColumns, readPartners } from './partner-columns.ts'
import { checkNamed, planChange, readNamed, resolveTags, sealed } from './plan-change.ts'
import { presentAll } from './present.ts'
import { linkColumns, requireSmallLink } from './settings.ts'
import {
  countAllLinks,
  deleteLinks,
  insertLink,
  type LinkColumns,
  type LinkRow,
  type NewLinkRow,
  replaceTags,
  selectLink,
  selectLinksByNumber,
  updateLink,
} from './store.ts'
import { lockLinkTags, repairTotalDifferences, sumAllTotals } from './totals-store.ts'

/* Link writes shared by create, update, upsert and bulk calls. Each publishes its event in the caller's transaction. */

export async function makeLink(ctx: Ctx, input: NewLink): Promise<LinkRow> {
  const { url, domain: asked, key, keyLength, prefix, ...settings } = input
  const columns = {
    ...linkColumns({ url, ...settings }, url, ctx.now()),
    ...partnerColumns(ctx, settings, await readPartners(ctx, [settings])),
  }
  requireSmallLink(ctx.config, columns)
  const domain = await domainForLink(ctx, asked)
  await lockLinkTags(ctx.db, ctx.workspaceId)
  const tagIds = (await resolveTags(ctx, input)) ?? []
  await checkNamed(ctx, input)
  await requireLinkRoom(ctx)
  const id = newId('link')
  const row = {
    ...columns,
    ...sealed(ctx, id, input),
    id,
    workspace_id: ctx.workspaceId,
    user_id: findUserId(ctx.actor) ?? null,
    domain,
    url: columns.url ?? url,
  }
  const number =
    key === undefined ? await insertWithRandomKey(ctx, row, prefix, keyLength) : await insertWithKey(ctx, row, key)
  await replaceTags(ctx.db, ctx.workspaceId, number, tagIds)
  return publishChange(ctx, number)
}

/** Updates a link and returns it. Writes nothing when the patch changes no value. */
export async function changeLink(ctx: Ctx, link: LinkRow, patch: LinkPatch): Promise<LinkRow> {
  requireFolderWrite(ctx, link.folder_id)
  const { domain: asked, key, ...settings } = patch
  const address: Partial<LinkColumns> = {
    ...(asked !== undefined && { domain: await domainForLink(ctx, asked) }),
    ...(key !== undefined && keyColumns(key)),
  }
  await requireOwnAddress(ctx, address.domain ?? link.domain, address.key ?? link.key)
  const { columns, tagIds } = planChange(ctx, link, settings, await readNamed(ctx, settings), address)
  reportChange(ctx, {
    kind: 'links',
    id: link.id,
    before: link,
    after: { ...columns, ...(tagIds && { tag_ids: tagIds }) },
  })
  if (Object.keys(columns).length === 0 && !tagIds) return link
  try {
    await updateLink(ctx.db, ctx.workspaceId, link.number, columns)
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'links_domain_key') throw addressTaken(address.domain ?? link.domain, address.key ?? link.key)
    if (constraint === 'links_external_id') throw externalIdTaken(columns.external_id)
    throw error
  }
  if (tagIds) await replaceTags(ctx.db, ctx.workspaceId, link.number, tagIds)
  return publishChange(ctx, link.number, link)
}

/** Deletes links and publishes it. Returns the numbers of links that this call deleted. */
export async function removeLinks(ctx: Ctx, numbers: bigint[]): Promise<bigint[]> {
  const removed = await deleteLinks(ctx.db, ctx.workspaceId, numbers)
  const rows = await selectLinksByNumber(ctx.db, ctx.workspaceId, removed)
  await publishEvents(ctx, 'link.deleted', rows)
  for (const { id, domain, key, url } of rows) reportChange(ctx, { kind: 'links', id, before: { domain, key, url } })
  return removed
}

export async function publishAll(ctx: Ctx, messages: Message[]): Promise<void> {
  if (messages.length > 0) await publish(ctx, ...messages)
}

export function changeMessage(ctx: Ctx, row: LinkRow, before?: LinkRow, event?: LinkEvent): Message {
  const change = { ...describeChange(row, before), ...(event && { event }) }
  return linkChangedMessage(change, hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS))
}

export function describeChange(row: LinkRow, before?: LinkRow): LinkChanged {
  const moved = before && (before.domain !== row.domain || before.lookup_key !== row.lookup_key)
  return {
    workspaceId: row.workspace_id,
    linkNumber: String(row.number),
    id: row.id,
    key: row.key,
    domain: row.domain,
    lookupKey: row.lookup_key,
    ...(moved && { former: { domain: before.domain, lookupKey: before.lookup_key } }),
    isRoot: row.key === rootKey,
    folderId: row.folder_id ?? '',
    tenantId: row.tenant_id ?? '',
    partnerId: row.partner_id ?? '',
    tagIds: row.tag_ids,
    deleted: row.deleted_at !== null,
    version: Number(row.version),
  }
}

/** Publishes that a link was created or, with the previous row `before`, updated. Returns its current row. */
export async function publishChange(ctx: Ctx, number: bigint, before?: LinkRow): Promise<LinkRow> {
  const [row] = await selectLinksByNumber(ctx.db, ctx.workspaceId, [number])
  if (!row) throw new Error(`Link ${number} was not found in the transaction that wrote it`)
  const former = before && new Map([[number, before]])
  await publishEvents(ctx, before ? 'link.updated' : 'link.created', [row], former)
  return row
}

// A NATS message may have up to a million bytes.
export const largestLink = 500_000

/** Publishes an event for each link; `former` has the rows from before the change. */
export async function publishEvents(
  ctx: Ctx,
  type: LinkEvent['type'],
  rows: LinkRow[],
  former = new Map<bigint, LinkRow>(),
): Promise<void> {
  // Subscribers get the whole link, whatever the caller may read.
  const links = await presentAll({ ...ctx, folderAccess: undefined }, rows)
  const createdAt = ctx.now().toISOString()
  const messages = rows.map((row, index) => {
    const link = { ...(links[index] as Link), password: null }
    const isSmall = Buffer.byteLength(JSON.stringify(link)) <= largestLink
    const event = { id: newId('evt'), type, createdAt, ...(isSmall && { link }) }
    return changeMessage(ctx, row, former.get(row.number), event)
  })
  await publishAll(ctx, messages)
}

/** Throws when the workspace has as many links as it may have. */
export async function requireLinkRoom(ctx: Ctx): Promise<void> {
  const { db, workspaceId } = ctx
  await requireStorageRoom(ctx, 'links', () => countAllLinks(db, workspaceId), {
    read: () => sumAllTotals(db, workspaceId),
    correct: () => repairTotalDifferences(db, workspaceId),
  })
}

async function insertWithKey(ctx: Ctx, row: Omit<NewLinkRow, 'key' | 'lookup_key'>, asked: string): Promise<bigint> {
  const columns = keyColumns(asked)
  await requireOwnAddress(ctx, row.domain, columns.key)
  const number = await insertLink(ctx.db, { ...row, ...columns })
  if (number !== undefined) return number
  const owner = await selectLink(ctx.db, ctx.workspaceId, { externalId: row.external_id ?? '' })
  throw owner ? externalIdTaken(row.external_id) : addressTaken(row.domain, columns.key)
}

async function insertWithRandomKey(
  ctx: Ctx,
  row: Omit<NewLinkRow, 'key' | 'lookup_key'>,
  prefix: string | undefined,
  length: number | undefined,
): Promise<bigint> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const number = await insertLink(ctx.db, { ...row, ...keyColumns(randomKey(prefix, length)) })
    if (number !== undefined) return number
    if (row.external_id && (await selectLink(ctx.db, ctx.workspaceId, { externalId: row.external_id }))) {
      throw externalIdTaken(row.external_id)
    }
  }
  throw conflict(`No random key of this length was free on ${row.domain}. Send a larger \`keyLength\`.`)
}

/** Rejects keys that speak for the whole host, such as ads.txt, on a shared domain that the workspace does not own. */
async function requireOwnAddress(ctx: Ctx, domain: string, key: string): Promise<void> {
  const problem = domain === ctx.config.SHORT_DOMAIN ? sharedKeyProblem(key) : undefined
  if (problem && !(await hasDomain(ctx, domain))) {
    throw invalid(`\`key\` in the body ${problem} on ${domain}, which all workspaces share. Use a domain of your own.`)
  }
}

function keyColumns(asked: string): { key: string; lookup_key: string } {
  const key = normalKey(asked)
  const problem = keyProblem(key)
  if (problem) throw invalid(`\`key\` in the body ${problem}.`)
  return { key, lookup_key: lookupKey(key) }
}

function addressTaken(domain: string, key: string) {
  return conflict(`${domain}/${key} is already taken. Choose another key.`)
}

function externalIdTaken(externalId: string | null | undefined) {
  return conflict(`Another link already has the externalId ${externalId}.`)
}
