import type { Plan } from '@tributary/contract/operation'
import { reservedSlugs } from '@tributary/contract/workspaces'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Config } from '../../platform/config.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, conflict, forbidden, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { memoByObject } from '../../platform/memo.ts'
import { type Db, transaction } from '../../platform/postgres.ts'
import {
  addErased,
  dropWorkspace,
  existsOpenDeletion,
  finishDeletion,
  lockDeletion,
  selectDeletedIds,
  selectOpenDeletions,
} from './deletions-store.ts'
import { isAllowedPage, normalHostname } from './hostnames.ts'
import {
  addUsage,
  correctUsage,
  insertWorkspace,
  liveWorkspace,
  lockQuota,
  selectCurrency,
  selectIpStorage,
  selectPlans,
  selectUsage,
  selectWorkspace,
  selectWorkspaces,
  selectWorkspacesById,
  updateWorkspace,
  type WorkspaceRow,
  type WorkspaceSettings,
} from './store.ts'

export type Workspace = WorkspaceRow
export type IpStorage = Config['IP_STORAGE']
export type WorkspaceChanges = WorkspaceSettings

export async function createWorkspace(
  platform: Pick<Platform, 'db' | 'config'>,
  input: { name: string; slug?: string; plan?: Plan },
): Promise<Workspace> {
  const slug = input.slug ?? makeSlug(input.name)
  if (!/^[a-z0-9][a-z0-9-]{2,47}$/.test(slug)) {
    throw invalid(`The slug ${JSON.stringify(slug)} must be 3 to 48 lower-case letters, digits and dashes.`)
  }
  if (reservedSlugs.has(slug)) throw invalid(`The slug ${slug} is a reserved word. Choose another one.`)
  const plan = input.plan ?? platform.config.DEFAULT_PLAN
  const workspace = await insertWorkspace(platform.db, { id: newId('ws'), name: input.name, slug, plan })
  if (!workspace) throw conflict(`The workspace slug ${slug} is taken. Choose another one.`)
  return workspace
}

export function listWorkspaces(platform: Pick<Platform, 'db'>): Promise<Workspace[]> {
  return selectWorkspaces(platform.db)
}

/** Finds a workspace that is not deleted. */
export function findWorkspace(platform: Pick<Platform, 'db'>, idOrSlug: string): Promise<Workspace | undefined> {
  return selectWorkspace(platform.db, idOrSlug)
}

/** Returns the workspaces with these ids that are not deleted, oldest first. */
export async function workspacesByIds(platform: Pick<Platform, 'db'>, ids: string[]): Promise<Workspace[]> {
  return ids.length === 0 ? [] : selectWorkspacesById(platform.db, ids)
}

/** The SQL condition that a workspace is not deleted; the column is SQL, too. */
export function liveWorkspaceCondition(columns: Record<'workspace', string>): string {
  return liveWorkspace(columns)
}

export async function requireWorkspace(platform: Pick<Platform, 'db'>, idOrSlug: string): Promise<Workspace> {
  const workspace = await selectWorkspace(platform.db, idOrSlug)
  if (!workspace)
    throw new AppError('not_found', `There is no workspace ${idOrSlug}. \`tributary workspace list\` shows them.`)
  return workspace
}

/**
 * Changes workspace settings. An `ip_storage` of null restores the default IP_STORAGE; workers apply it within half a
 * minute. A new plan applies to API keys within a second.
 */
export async function changeWorkspace(
  platform: Pick<Platform, 'db'>,
  idOrSlug: string,
  settings: WorkspaceSettings,
): Promise<Workspace> {
  const { id } = await requireWorkspace(platform, idOrSlug)
  const workspace = await updateWorkspace(platform.db, id, settings)
  return workspace ?? requireWorkspace(platform, id)
}

export type ConversionSettings = { currency: string; windowDays: number; model: Workspace['attribution_model'] }

/** The workspace's currency and attribution settings. */
export async function conversionSettings(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<ConversionSettings> {
  const { currency, attribution_days, attribution_model } = await requireWorkspace(ctx, ctx.workspaceId)
  return { currency, windowDays: attribution_days, model: attribution_model }
}

/** The workspace's currency of up to a minute ago, for callers that check it where they use it. */
export async function guessCurrency(ctx: Pick<Ctx, 'db' | 'workspaceId' | 'config'>): Promise<string> {
  const known = currencyCache(ctx.config)
  const remembered = known.get(ctx.workspaceId)
  if (remembered !== undefined) return remembered
  const { currency } = await conversionSettings(ctx)
  known.set(ctx.workspaceId, currency)
  return currency
}

/** The SQL that selects the workspace's currency. */
export function currencySelection(parts: Record<'workspace', string>): string {
  return selectCurrency(parts)
}

/** How much of an IP address each of these workspaces stores; cached, because every click batch needs it. */
export async function findIpStorage(
  platform: Pick<Platform, 'db' | 'config'>,
  workspaceIds: Iterable<string>,
): Promise<Map<string, IpStorage>> {
  const known = ipStorageCache(platform.config)
  const storages = new Map<string, IpStorage>()
  const unknown: string[] = []
  for (const id of new Set(workspaceIds)) {
    const storage = known.get(id)
    if (storage) storages.set(id, storage)
    else unknown.push(id)
  }
  if (unknown.length === 0) return storages
  const own = await selectIpStorage(platform.db, unknown)
  for (const id of unknown) {
    const storage = own.get(id) ?? platform.config.IP_STORAGE
    known.set(id, storage)
    storages.set(id, storage)
  }
  return storages
}

/** Caches are per configuration object, so that tests in one process have separate caches. */
const ipStorageCache = memoByObject((_: Config) => openByteCache<IpStorage>({ maxBytes: 4_000_000, ttlMs: 30_000 }))
const currencyCache = memoByObject((_: Config) => openByteCache<string>({ maxBytes: 4_000_000, ttlMs: 60_000 }))
const pageCache = memoByObject((_: Config) => openByteCache<Workspace>({ maxBytes: 8_000_000, ttlMs: 5_000 }))
const recountCache = memoByObject((_: Config) => openByteCache<true>({ maxBytes: 2_000_000, ttlMs: 600_000 }))

const ampleCache = memoByObject((_: Config) => openByteCache<true>({ maxBytes: 2_000_000, ttlMs: 1_000 }))

const mostHostnames = 10

/** Parses allowed hostnames, separated by commas; `any` gives an empty list, which allows every page. */
export function hostnamesIn(text: string): string[] {
  return text.trim() === 'any' ? [] : parseHostnames(text.split(','))
}

/** Normalizes allowed hostnames, at most ten. */
export function parseHostnames(given: string[]): string[] {
  const names = given.map((name) => {
    const hostname = normalHostname(name)
    if (hostname) return hostname
    throw invalid(
      `${JSON.stringify(name.trim())} is not a hostname. Use example.com or *.example.com, or any for all pages.`,
    )
  })
  const distinct = [...new Set(names)]
  if (distinct.length <= mostHostnames) return distinct
  throw invalid(
    `These are ${distinct.length} hostnames, but at most ${mostHostnames} are allowed. Use \`*.example.com\` for all subdomains.`,
  )
}

/** Throws an error when a page's host is not among the workspace's allowed hostnames. */
export function requirePage(
  { allowed_hostnames }: Pick<Workspace, 'allowed_hostnames'>,
  page: string,
  remedy = 'Add its hostname: tributary workspace set <workspace> --allowed-hostnames <all hostnames>.',
): void {
  if (isAllowedPage(allowed_hostnames, page)) return
  const where = page === '' ? 'A request without a page' : `A page on ${page}`
  throw forbidden(`${where} may not track for this workspace. ${remedy}`)
}

/** Checks a page against the allowed hostnames of a workspace id; cached, because every click from a page needs it. */
export async function requireAllowedPage(
  platform: Pick<Platform, 'db' | 'config'>,
  workspaceId: string,
  page: string,
): Promise<void> {
  const known = pageCache(platform.config)
  const workspace = known.get(workspaceId) ?? (await requireWorkspace(platform, workspaceId))
  if (!known.has(workspaceId)) known.set(workspaceId, workspace)
  requirePage(workspace, page)
}

/** Whether a page's host is one of the workspace's allowed hostnames, as they are now. */
export async function allowsPage({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, page: string): Promise<boolean> {
  const { allowed_hostnames } = await requireWorkspace({ db }, workspaceId)
  return isAllowedPage(allowed_hostnames, page)
}

/** Retention of new events in days, by workspace; workspaces that keep events forever are absent. */
export async function historyDays(
  platform: Pick<Platform, 'db' | 'config'>,
  workspaceIds: Iterable<string>,
): Promise<Map<string, number>> {
  const days = platform.config.HISTORY_DAYS_BY_PLAN
  if (Object.keys(days).length === 0) return new Map()
  const plans = await selectPlans(platform.db, [...new Set(workspaceIds)])
  return new Map([...plans].flatMap(([id, plan]) => (days[plan] === undefined ? [] : [[id, days[plan]]])))
}

const quotas = {
  links: 'LINKS_PER_WORKSPACE',
  customers: 'CUSTOMERS_PER_WORKSPACE',
  domains: 'DOMAINS_PER_WORKSPACE',
  tags: 'TAGS_PER_WORKSPACE',
  folders: 'FOLDERS_PER_WORKSPACE',
  partners: 'PARTNERS_PER_WORKSPACE',
  'partner groups': 'PARTNER_GROUPS_PER_WORKSPACE',
  'partner tags': 'PARTNER_TAGS_PER_WORKSPACE',
  'UTM templates': 'UTM_TEMPLATES_PER_WORKSPACE',
  views: 'VIEWS_PER_WORKSPACE',
  notes: 'NOTES_PER_WORKSPACE',
  webhooks: 'WEBHOOKS_PER_WORKSPACE',
  keys: 'KEYS_PER_WORKSPACE',
  members: 'MEMBERS_PER_WORKSPACE',
} as const satisfies Record<string, keyof Config>
export type Quota = keyof typeof quotas
type Tenant = Pick<Ctx, 'db' | 'config' | 'workspaceId'>

/** Throws when the workspace's quota is used up, by counting all rows each time. Call it inside a transaction. */
export async function requireRoom(ctx: Tenant, noun: Quota, count: () => Promise<number>): Promise<void> {
  await lockQuota(ctx.db, ctx.workspaceId, noun)
  const used = await count()
  if (used >= ctx.config[quotas[noun]]) throw quotaReached(ctx, noun, used)
}

// With less room than this, transactions are serialized; concurrent transactions can't add as many rows unnoticed.
const nearQuota = 20_000

/**
 * Throws when the workspace's quota of links, customers or partners is used up; call it inside a transaction. It reads a stored
 * count, because there may be millions of rows; near the limit, transactions are serialized to make the count exact.
 * Before it throws, it counts the rows, at most once in ten minutes, because earlier versions stored no count.
 */
export async function requireStorageRoom(
  ctx: Tenant,
  noun: 'links' | 'customers' | 'partners',
  recount: () => Promise<number>,
  stored = usageIn(ctx, noun),
): Promise<void> {
  const most = ctx.config[quotas[noun]]
  const used = await stored.read()
  if (used < most - nearQuota) return
  await lockQuota(ctx.db, ctx.workspaceId, noun)
  const exact = await stored.read()
  if (exact < most) return
  const known = recountCache(ctx.config)
  const name = `${noun} ${ctx.workspaceId}`
  if (known.has(name)) throw quotaReached(ctx, noun, exact)
  // Set before the recount, because the recount may time out.
  known.set(name, true)
  const counted = await recount()
  if (counted >= most) throw quotaReached(ctx, noun, counted)
  await stored.correct(counted)
}

/** A stored count, and how to set it to the number of counted rows. */
type StoredCount = { read(): Promise<number>; correct(counted: number): Promise<unknown> }

function usageIn({ db, workspaceId }: Tenant, noun: string): StoredCount {
  return {
    read: () => selectUsage(db, workspaceId, noun),
    correct: (counted) => correctUsage(db, workspaceId, noun, counted),
  }
}

/**
 * Whether the workspace may add many links, customers or partners before it reaches its quota, so that a request need not check it.
 * Remembered for a second, in which all processes together add far fewer than this room.
 */
export async function hasAmpleRoom(
  ctx: Tenant,
  noun: 'links' | 'customers' | 'partners',
  read = usageIn(ctx, noun).read,
): Promise<boolean> {
  const known = ampleCache(ctx.config)
  const name = `${noun} ${ctx.workspaceId}`
  if (known.has(name)) return true
  const room = ctx.config[quotas[noun]] - (await read())
  if (room > 10 * nearQuota) known.set(name, true)
  return room > nearQuota
}

/** Updates the stored count of customers or partners. Call it in the transaction that adds or removes them. */
export async function keepCount(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  noun: 'customers' | 'partners',
  change: number,
): Promise<void> {
  if (change !== 0) await addUsage(ctx.db, ctx.workspaceId, noun, change)
}

/** Holds a lock that blocks other decisions about a resource type of this owner until the transaction ends. */
export function lockResource({ db }: Pick<Ctx, 'db'>, owner: string, noun: string): Promise<void> {
  return lockQuota(db, owner, noun)
}

/** The operator's limit of a resource type. */
export function quotaLimit({ config }: Pick<Platform, 'config'>, noun: Quota): number {
  return config[quotas[noun]]
}

/** The stored count of links, customers or partners. */
export function storedCount(ctx: Tenant, noun: 'customers' | 'partners'): Promise<number> {
  return usageIn(ctx, noun).read()
}

function quotaReached({ config }: Tenant, noun: Quota, used: number): AppError {
  const setting = quotas[noun]
  return forbidden(
    `This workspace has ${used} ${noun}; the operator's setting ${setting} allows ${config[setting]}. Delete some, or ask the operator to raise it.`,
  )
}

/** Returns the caller's workspace; throws 404 when the path names another one. */
export async function requireOwn(ctx: Pick<Ctx, 'db' | 'workspaceId'>, idOrSlug: string): Promise<Workspace> {
  const workspace = await requireWorkspace(ctx, ctx.workspaceId)
  if (idOrSlug !== workspace.id && idOrSlug !== workspace.slug) throw unknownWorkspace(idOrSlug)
  return workspace
}

export function unknownWorkspace(idOrSlug: string): AppError {
  return new AppError('not_found', `There is no workspace ${idOrSlug} for you. \`GET /workspaces\` lists yours.`)
}

function makeSlug(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 48)
}

/** Deletions whose data a job has to erase, and those whose late events it has to erase a day later. */
export function openDeletions(platform: Pick<Platform, 'db'>, sweptBefore: Date, count: number) {
  return selectOpenDeletions(platform.db, { sweptBefore, count })
}

/** Which of these workspaces were deleted, also long ago. */
export async function deletedWorkspaces(platform: Pick<Platform, 'db'>, ids: Iterable<string>): Promise<Set<string>> {
  // An event may have any text as its workspace, and PostgreSQL refuses one with a NUL.
  const possible = [...new Set(ids)].filter((id) => !id.includes('\0'))
  return new Set(await selectDeletedIds(platform.db, possible))
}

/** Runs `work` in a transaction, unless another worker works on the deletion; undefined then. */
export function withDeletion<R>(
  platform: Pick<Platform, 'db'>,
  workspaceId: string,
  work: (db: Db) => Promise<R>,
): Promise<R | undefined> {
  return transaction(platform, async ({ db }) => ((await lockDeletion(db, workspaceId)) ? work(db) : undefined))
}

/** Whether a job has not yet erased all data of this deleted workspace. */
export function isErasing(platform: Pick<Platform, 'db'>, workspaceId: string): Promise<boolean> {
  return existsOpenDeletion(platform.db, workspaceId)
}

export function recordErased(db: Db, workspaceId: string, step: string, rows: number): Promise<void> {
  return addErased(db, workspaceId, step, rows)
}

/** Deletes the workspace's own row and ends the deletion. */
export async function finishErasure(db: Db, workspaceId: string): Promise<void> {
  await dropWorkspace(db, workspaceId)
  await finishDeletion(db, workspaceId)
}
