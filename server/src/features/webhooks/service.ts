import type { Link } from '@tributary/contract/links'
import type {
  NewWebhook,
  Trigger,
  Webhook,
  WebhookEvent,
  WebhookPatch,
  WebhooksQuery,
  WebhookWithSecret,
} from '@tributary/contract/webhooks'
import type { z } from 'zod'
import type { Ctx, Platform } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireTag } from '../../platform/validation.ts'
import { requireRoom } from '../workspaces/service.ts'
import { type CustomerEvent as CustomerEventRead, readCustomerEvents } from './customers.ts'
import { existsCustomerEvent } from './customers-store.ts'
import { selectStoredBytes } from './deliveries-store.ts'
import { webhookMetrics } from './metrics.ts'
import { redirectsEvents, requireTriggers } from './permissions.ts'
import { presentWebhook, webhookTag } from './present.ts'
import { bothSignMs, newSecret, sealSecret } from './secrets.ts'
import { requireAddress, resolveScope, resolveStanding } from './settings.ts'
import {
  existingWebhooks,
  insertWebhook,
  lockWebhooks,
  selectKnownIds,
  selectWebhook,
  selectWebhooks,
  updateWebhookRow,
  type WebhookRow,
} from './store.ts'

/** A webhook event before it is stored. Its link decides which webhooks get it; erasing its customer erases it. */
export type WebhookDraft = {
  event: WebhookEvent
  link: Pick<Link, 'folderId' | 'webhookIds'>
  customerId: string | null
  /** The event is stored without a body until the facts of its click are known. */
  waitsFor?: 'click'
}

/** Webhook events of one workspace, built in the transaction that stores them. */
export type WebhookDrafts = { workspaceId: string; build(ctx: Ctx): Promise<WebhookDraft[]> }

/** Finds workspaces with an enabled webhook for one of these triggers; null searches all workspaces. */
export type FindListening = (triggers: Set<Trigger>, workspaceIds: string[] | null) => Promise<Set<string>>

type Subscription<Body> = {
  /** The name of the NATS durable consumer. */
  name: string
  subject: string
  schema: z.ZodType<Body>
}

/** Turns NATS messages about links, clicks, leads or sales into webhook events. Event ids are stable across retries. */
export type WebhookSource<Body> = Subscription<Body> & {
  atOnce?: number
  read(platform: Platform, bodies: Body[], findListening: FindListening): AsyncIterable<WebhookDrafts>
  rebuild?: WebhookRelease<Body>['rebuild']
}

/** Turns NATS messages into the ids of webhook events whose click facts are now known. */
export type WebhookRelease<Body> = Subscription<Body> & {
  readIds(body: Body): { workspaceId: string; ids: string[] }
  /** Builds those of the given events whose click facts are known. */
  rebuild(ctx: Ctx, ids: string[]): Promise<WebhookDrafts['build']>
}

export type ErasedCustomer = { workspaceId: string; customerId: string }

/** A subscription to erased customers, whose webhook events are erased too. */
export type WebhookErasure<Body extends ErasedCustomer> = Subscription<Body>

export type CustomerEvent = CustomerEventRead

/** Reads the stored webhook events about a customer with their deliveries. */
export function customerEvents(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  customerId: string,
): AsyncGenerator<CustomerEvent> {
  return readCustomerEvents(ctx, customerId)
}

/** Whether webhook events about an erased customer, or responses to them, are left. */
export function isCustomerEventLeft({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, customerId: string) {
  return existsCustomerEvent(db, workspaceId, customerId)
}

/** Access to the folders and links that a webhook can be limited to. */
export type WebhookScopes = {
  knownFolderIds(ctx: Ctx, ids: string[]): Promise<Set<string>>
  /** Replaces the set of links that the webhook is limited to. */
  assignWebhook(ctx: Ctx, webhookId: string, linkIds: string[]): Promise<void>
}

export async function webhookCount(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return (await selectWebhooks(ctx.db, ctx.workspaceId)).length
}

/** The stored bytes of the workspace's webhook events. */
export function webhookBytes({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return selectStoredBytes(db, workspaceId)
}

/** Counts webhook events that were lost because their source could not read them. */
export function countDroppedEvents(platform: Pick<Platform, 'metrics'>, count: number): void {
  webhookMetrics(platform).eventsDropped.inc(count)
}

export async function listWebhooks(ctx: Ctx, scopes: WebhookScopes, query: WebhooksQuery): Promise<Webhook[]> {
  const rows = await selectWebhooks(ctx.db, ctx.workspaceId, {
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return presentAll(ctx, scopes, rows)
}

export async function getWebhook(ctx: Ctx, scopes: WebhookScopes, id: string): Promise<Webhook> {
  return present(ctx, scopes, await requireWebhook(ctx, id))
}

export async function createWebhook(ctx: Ctx, scopes: WebhookScopes, input: NewWebhook): Promise<WebhookWithSecret> {
  requireTriggers(ctx, input.triggers)
  const now = ctx.now()
  const id = newId('whk')
  const secret = newSecret()
  const url = requireAddress(input.url, ctx.config)
  const row = {
    ...resolveScope(input),
    id,
    workspace_id: ctx.workspaceId,
    name: input.name,
    url,
    triggers: [...new Set(input.triggers)],
    sealed_secret: sealSecret(ctx.config.ENCRYPTION_KEYS, id, secret),
    created_at: now,
    updated_at: now,
  }
  const webhook = await lockedTransaction(ctx, async (ctx) => {
    await requireFolders(ctx, scopes, row.folder_ids)
    const others = await selectWebhooks(ctx.db, ctx.workspaceId)
    if (others.some((other) => other.url === url)) throw addressTaken(url)
    await requireRoom(ctx, 'webhooks', async () => others.length)
    const inserted = await insertWebhook(ctx.db, row)
    if (input.linkIds.length > 0) await scopes.assignWebhook(ctx, id, input.linkIds)
    return inserted
  })
  return { ...(await present(ctx, scopes, webhook)), secret }
}

/** Updates a webhook; with `expected`, only if the entity tag of the webhook is one of those. */
export async function updateWebhook(
  ctx: Ctx,
  scopes: WebhookScopes,
  id: string,
  patch: WebhookPatch,
  expected = '',
): Promise<Webhook> {
  const url = patch.url === undefined ? undefined : requireAddress(patch.url, ctx.config)
  const row = await lockedTransaction(ctx, async (ctx) => {
    const current = await requireWebhook(ctx, id)
    if (redirectsEvents(patch)) requireTriggers(ctx, [...current.triggers, ...(patch.triggers ?? [])])
    if (expected !== '') requireTag(expected, webhookTag(await present(ctx, scopes, current)))
    const scope = resolveScope(patch, current)
    const { folderIds, linkIds, ...fields } = patch
    reportChange(ctx, { id, before: current, after: { ...fields, ...scope, ...(linkIds && { linkIds }) } })
    if (patch.folderIds) await requireFolders(ctx, scopes, scope.folder_ids)
    if (patch.linkIds && scope.scope === 'links') await scopes.assignWebhook(ctx, id, patch.linkIds)
    return change(ctx, id, {
      ...scope,
      ...(patch.name !== undefined && { name: patch.name }),
      ...(patch.triggers && { triggers: [...new Set(patch.triggers)] }),
      // Failures at the old URL must not disable the webhook at its new URL.
      ...(url !== undefined && url !== current.url && { url, failing_since: null }),
      ...resolveStanding(patch, current, ctx.now()),
    })
  })
  return present(ctx, scopes, row)
}

/** Deletes a webhook: it stops at once, and the worker deletes its rows later. */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<{ id: string }> {
  await lockedTransaction(ctx, (ctx) => change(ctx, id, { deleted_at: ctx.now(), disabled_at: ctx.now() }))
  return { id }
}

/** Gives a webhook a new secret. For a day, deliveries are signed with the previous secret too. */
export async function rotateSecret(ctx: Ctx, scopes: WebhookScopes, id: string): Promise<WebhookWithSecret> {
  const secret = newSecret()
  const row = await lockedTransaction(ctx, async (ctx) => {
    const current = await requireWebhook(ctx, id)
    return change(ctx, id, {
      sealed_secret: sealSecret(ctx.config.ENCRYPTION_KEYS, id, secret),
      sealed_former_secret: current.sealed_secret,
      former_secret_until: new Date(ctx.now().getTime() + bothSignMs),
    })
  })
  return { ...(await present(ctx, scopes, row)), secret }
}

export async function requireWebhook(ctx: Ctx, id: string): Promise<WebhookRow> {
  const row = await selectWebhook(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('webhook', id)
  return row
}

/** The SQL condition that all of these webhooks exist; the columns are SQL, too. */
export function webhooksCondition(columns: Record<'workspace' | 'ids', string>): string {
  return existingWebhooks(columns)
}

/** Returns those of the given ids that are webhooks of the workspace. */
export async function knownWebhookIds(ctx: Pick<Ctx, 'db' | 'workspaceId'>, ids: string[]): Promise<Set<string>> {
  return new Set(ids.length === 0 ? [] : await selectKnownIds(ctx.db, ctx.workspaceId, ids))
}

function lockedTransaction(ctx: Ctx, work: (ctx: Ctx) => Promise<WebhookRow>): Promise<WebhookRow> {
  return transaction(ctx, async (ctx) => {
    await lockWebhooks(ctx.db, ctx.workspaceId)
    return work(ctx)
  })
}

async function change(ctx: Ctx, id: string, changes: Parameters<typeof updateWebhookRow>[3]): Promise<WebhookRow> {
  const changed = { ...changes, updated_at: ctx.now() }
  const row = await updateWebhookRow(ctx.db, ctx.workspaceId, id, changed).catch((error: unknown) => {
    throw violatedConstraint(error) === 'webhooks_url' ? addressTaken(changes.url ?? '') : error
  })
  if (!row) throw notFound('webhook', id)
  return row
}

async function requireFolders(ctx: Ctx, scopes: WebhookScopes, ids: string[]): Promise<void> {
  const known = await scopes.knownFolderIds(ctx, ids)
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length > 0) {
    throw invalid(`\`folderIds\` in the body names folders that do not exist: ${missing.join(', ')}.`)
  }
}

function addressTaken(url: string) {
  return conflict(`Another webhook already has the address ${url}. Change that one, or choose another address.`)
}

async function presentAll(ctx: Ctx, scopes: WebhookScopes, rows: WebhookRow[]): Promise<Webhook[]> {
  const folders = await scopes.knownFolderIds(ctx, [...new Set(rows.flatMap((row) => row.folder_ids))])
  return rows.map((row) => presentWebhook(row, folders))
}

async function present(ctx: Ctx, scopes: WebhookScopes, row: WebhookRow): Promise<Webhook> {
  return (await presentAll(ctx, scopes, [row]))[0] as Webhook
}
