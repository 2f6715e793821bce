import type { Link, NewLink } from '@tributary/contract/links'
import type { Tag } from '@tributary/contract/tags'
import { openGroupCommit } from '../../platform/batches.ts'
import { type Ctx, findUserId } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { wakeRelay } from '../../platform/outbox.ts'
import { isDeadlock, transaction } from '../../platform/postgres.ts'
import { seal } from '../../platform/seal.ts'
import { entryInsertion, groupedEntries, markWritten, recordGrouped } from '../audit/service.ts'
import { domainCondition, forgetLinkDomain, guessLinkDomain } from '../domains/service.ts'
import { folderCondition, requireFolderWrite } from '../folders/service.ts'
import { partnerCondition } from '../partners/service.ts'
import { findTags, type NamedTags, tagsCondition } from '../tags/service.ts'
import { webhooksCondition } from '../webhooks/service.ts'
import { hasAmpleRoom } from '../workspaces/service.ts'
import { type NewItem, openCreation, unsetColumns } from './create-store.ts'
import { keyProblem, lookupKey, normalKey, randomKey, sharedKeyProblem } from './key.ts'
import { linkChangedSubjectIn } from './messages.ts'
import { type KnownPartners, partnerColumns, readPartners } from './partner-columns.ts'
import { presentAll, presentLink } from './present.ts'
import { linkColumns, requireSmallLink } from './settings.ts'
import { sumAllTotals } from './totals-store.ts'
import { describeChange, largestLink, makeLink } from './write.ts'

/* Creation in one statement. It gives no reasons: `makeLink` creates, or rejects, a link that was not inserted. */

const insertLinks = openCreation(
  {
    domain: domainCondition({ workspace: '$1', domain: 'given.domain', isDefault: 'item.is_default', shared: '$3' }),
    folder: folderCondition({ workspace: '$1', id: 'given.folder_id' }),
    webhooks: webhooksCondition({ workspace: '$1', ids: 'given.webhook_ids' }),
    tags: tagsCondition({ workspace: '$1', ids: 'item.tag_ids' }),
    partner: partnerCondition({ workspace: '$1', id: 'given.partner_id' }),
  },
  entryInsertion,
)

const createInGroup = openGroupCommit<NewLink, Link>(
  async (ctx, calls) => {
    const inputs = calls.map(({ input }) => input)
    const links = await createAtOnce(ctx, inputs, calls)
    markWritten(calls.filter((_, index) => links[index]))
    return links
  },
  { isOneStatement: true },
)

/** Creates a link. Outside a transaction, it also records the request in the audit log. */
export async function createOne(ctx: Ctx, input: NewLink): Promise<Link> {
  // Before the link joins a group, which has the context of another caller.
  requireFolderWrite(ctx, input.folderId)
  if (ctx.db.isTransaction) return (await createAtOnce(ctx, [input]))[0] ?? createSlowly(ctx, input)
  return (await createInGroup(ctx, input)) ?? createAlone(ctx, input)
}

function createAlone(ctx: Ctx, input: NewLink): Promise<Link> {
  return transaction(ctx, async (ctx) => {
    const link = await createSlowly(ctx, input)
    await recordGrouped(ctx, [{ ctx, performed: { body: input, result: link } }])
    return link
  })
}

/** Creates a link with a statement for each rule, so that an error tells which one it breaks. Needs a transaction. */
export async function createSlowly(ctx: Ctx, input: NewLink): Promise<Link> {
  return (await presentAll(ctx, [await makeLink(ctx, input)]))[0] as Link
}

/**
 * Creates links and returns them by index; undefined for each that was not created, for whatever reason. With `calls`,
 * the statement also inserts the audit entry of each request.
 */
export async function createAtOnce(ctx: Ctx, inputs: NewLink[], calls?: { ctx: Ctx }[]): Promise<(Link | undefined)[]> {
  const none = inputs.map(() => undefined)
  // A larger link may not fit into a message. Near the quota, links are checked one by one.
  if (ctx.config.LINK_MAX_BYTES > largestLink / 2) return none
  if (!(await hasAmpleRoom(ctx, 'links', () => sumAllTotals(ctx.db, ctx.workspaceId)))) return none
  const tags = await readTags(ctx, inputs)
  const partners = await readPartners(ctx, inputs)
  const drafts: (Draft | undefined)[] = []
  for (const [index, input] of inputs.entries()) {
    const domain = await guessLinkDomain(ctx, input.domain)
    drafts.push(draftLink(calls?.[index]?.ctx ?? ctx, input, { domain, tags, partners }))
  }
  if (calls) await addEntries(ctx, drafts, calls, inputs)
  const items = drafts.flatMap((draft) => draft?.item ?? [])
  // Two groups with the same addresses would deadlock. A bulk call has locked its addresses, and keeps its order.
  if (calls) items.sort((one, other) => (one.row.lookup_key < other.row.lookup_key ? -1 : 1))
  const made = items.length === 0 ? new Map<string, Date>() : await insert(ctx, items)
  if (items.some(({ is_default, row }) => is_default && !made.has(row.id))) forgetLinkDomain(ctx)
  return drafts.map((draft) => {
    const createdAt = draft && made.get(draft.link.id)?.toISOString()
    return createdAt === undefined ? undefined : { ...(draft as Draft).link, createdAt, updatedAt: createdAt }
  })
}

async function addEntries(
  ctx: Ctx,
  drafts: (Draft | undefined)[],
  calls: { ctx: Ctx }[],
  inputs: NewLink[],
): Promise<void> {
  const drafted = calls.flatMap(({ ctx }, index) => {
    const draft = drafts[index]
    return draft ? [{ draft, ctx, performed: { body: inputs[index], result: draft.link } }] : []
  })
  const entries = await groupedEntries(ctx, drafted)
  for (const [index, { draft }] of drafted.entries()) draft.item.entry = entries[index] ?? null
}

/** Inserts the items. Returns the time of creation by link id. */
async function insert(ctx: Ctx, items: NewItem[]): Promise<Map<string, Date>> {
  const { db, workspaceId, config } = ctx
  const subject = linkChangedSubjectIn(hashPartition(workspaceId, config.EVENT_PARTITIONS))
  const traceparent = ctx.tracing?.traceparent() ?? null
  try {
    const rows = await insertLinks(db, workspaceId, { sharedDomain: config.SHORT_DOMAIN, subject, traceparent, items })
    if (!db.isTransaction && rows.length > 0) wakeRelay(ctx)
    return new Map(rows.map((row) => [row.id, row.created_at]))
  } catch (error) {
    // The caller creates the link in a transaction then, which is repeated after a deadlock.
    if (isDeadlock(error) && !db.isTransaction) return new Map()
    throw error
  }
}

async function readTags(ctx: Ctx, inputs: NewLink[]): Promise<NamedTags> {
  const ids = inputs.flatMap((input) => givenTagIds(input) ?? [])
  const names = inputs.flatMap((input) => (givenTagIds(input) ? [] : [input.tagNames ?? []].flat()))
  return findTags(ctx, { ids, names })
}

function givenTagIds({ tagIds, tagId }: NewLink): string[] | undefined {
  const given = tagIds ?? (tagId === undefined ? undefined : (tagId ?? []))
  return given === undefined ? undefined : [...new Set([given].flat().filter(Boolean))]
}

/** The tags of a new link; undefined when one of them does not exist. */
function pickTags(input: NewLink, { byId, byName }: NamedTags): Tag[] | undefined {
  const ids = givenTagIds(input)
  const found = ids ? ids.map((id) => byId.get(id)) : [input.tagNames ?? []].flat().map(byName)
  return found.includes(undefined) ? undefined : [...new Set(found as Tag[])]
}

type Draft = { item: NewItem; link: Link }

/** Prepares a link and its message; undefined when it is invalid. */
function draftLink(
  ctx: Ctx,
  input: NewLink,
  { domain, tags: named, partners }: { domain: string; tags: NamedTags; partners: KnownPartners },
): Draft | undefined {
  const { url, domain: asked, key: given, keyLength, prefix, ...others } = input
  const tags = pickTags(input, named)
  const key = given === undefined ? randomKey(prefix, keyLength) : normalKey(given)
  const isReserved = domain === ctx.config.SHORT_DOMAIN && given !== undefined && sharedKeyProblem(key)
  const columns = tags && !isReserved && !keyProblem(key) && readColumns(ctx, url, others, partners)
  if (!columns) return undefined
  const id = newId('link')
  const password = input.password || null
  const tagIds = tags.map((tag) => tag.id)
  const settings = {
    ...unsetColumns,
    ...columns,
    id,
    workspace_id: ctx.workspaceId,
    user_id: findUserId(ctx.actor) ?? null,
    domain,
    key,
    lookup_key: lookupKey(key),
    url: columns.url ?? url,
  }
  const row = { ...settings, ...uncounted, tag_ids: tagIds, sealed_password: null }
  const { folder_id: folderId, webhook_ids: webhookIds } = row
  const link = presentLink(row, { apiUrl: ctx.config.API_URL, tags, folderId, webhookIds, password })
  const createdAt = ctx.now().toISOString()
  const sealed = password && seal(ctx.config.ENCRYPTION_KEYS, id, password)
  return {
    link,
    item: {
      row: { ...settings, sealed_password: sealed && `\\x${sealed.toString('hex')}` },
      is_default: asked === undefined,
      tag_ids: tagIds,
      change: describeChange(row),
      event: { id: newId('evt'), type: 'link.created', createdAt },
      link: { ...link, password: null },
      entry: null,
    },
  }
}

function readColumns(
  ctx: Ctx,
  url: string,
  settings: Omit<NewLink, 'url' | 'domain' | 'key'>,
  partners: KnownPartners,
) {
  try {
    const columns = { ...linkColumns({ url, ...settings }, url, ctx.now()), ...partnerColumns(ctx, settings, partners) }
    requireSmallLink(ctx.config, columns)
    requireFolderWrite(ctx, columns.folder_id)
    return columns
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The columns that PostgreSQL fills, with the values of a link without clicks. */
const uncounted = {
  number: 0n,
  version: 0n,
  deleted_at: null,
  banned_at: null,
  test_winner_at: null,
  created_at: new Date(0),
  updated_at: new Date(0),
  clicks: 0n,
  leads: 0n,
  conversions: 0n,
  sales: 0n,
  sale_amount: '0',
  last_clicked: null,
}
