import type { NewWebhook, Webhook, WebhookPatch, WebhooksQuery, WebhookWithSecret } from '@tributary/contract/webhooks'
import type { Ctx } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { knownFolderIds } from '../folders/service.ts'
import { nameWebhook } from '../links/service.ts'
import { keepWebhooks, requireRoom } from '../workspaces/service.ts'
import { presentWebhook } from './present.ts'
import { bothSignMs, newSecret, sealSecret } from './secrets.ts'
import { addressOf, scopeOf, standingOf } from './settings.ts'
import {
  insertWebhook,
  lockWebhooks,
  selectWebhook,
  selectWebhooks,
  updateWebhookRow,
  type WebhookRow,
} from './store.ts'

export async function listWebhooks(ctx: Ctx, query: WebhooksQuery): Promise<Webhook[]> {
  const rows = await selectWebhooks(ctx.db, ctx.workspaceId, {
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return presentAll(ctx, rows)
}

export async function getWebhook(ctx: Ctx, id: string): Promise<Webhook> {
  return present(ctx, await requireWebhook(ctx, id))
}

export async function createWebhook(ctx: Ctx, input: NewWebhook): Promise<WebhookWithSecret> {
  const now = ctx.now()
  const id = newId('whk')
  const secret = newSecret()
  const url = addressOf(input.url, ctx.config)
  const row = {
    ...scopeOf(input),
    id,
    workspace_id: ctx.workspaceId,
    name: input.name,
    url,
    triggers: [...new Set(input.triggers)],
    sealed_secret: sealSecret(ctx.config.ENCRYPTION_KEYS, id, secret),
    created_at: now,
    updated_at: now,
  }
  const webhook = await changing(ctx, async (ctx) => {
    await requireFolders(ctx, row.folder_ids)
    const others = await selectWebhooks(ctx.db, ctx.workspaceId)
    if (others.some((other) => other.url === url)) throw addressTaken(url)
    await requireRoom(ctx, 'webhooks', async () => others.length)
    const inserted = await insertWebhook(ctx.db, row)
    if (input.linkIds.length > 0) await nameWebhook(ctx, id, input.linkIds)
    return inserted
  })
  return { ...(await present(ctx, webhook)), secret }
}

export async function updateWebhook(ctx: Ctx, id: string, patch: WebhookPatch): Promise<Webhook> {
  const url = patch.url === undefined ? undefined : addressOf(patch.url, ctx.config)
  const row = await changing(ctx, async (ctx) => {
    const current = await requireWebhook(ctx, id)
    const scope = scopeOf(patch, current)
    if (patch.folderIds) await requireFolders(ctx, scope.folder_ids)
    if (patch.linkIds && scope.scope === 'links') await nameWebhook(ctx, id, patch.linkIds)
    return change(ctx, id, {
      ...scope,
      ...(patch.name !== undefined && { name: patch.name }),
      ...(patch.triggers && { triggers: [...new Set(patch.triggers)] }),
      // What another address did is not held against this one.
      ...(url !== undefined && url !== current.url && { url, failing_since: null }),
      ...standingOf(patch, current, ctx.now()),
    })
  })
  return present(ctx, row)
}

/** It is gone at once; the worker takes away what is left of it. */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<{ id: string }> {
  await changing(ctx, (ctx) => change(ctx, id, { deleted_at: ctx.now(), disabled_at: ctx.now() }))
  return { id }
}

/** The one that signed until now signs too for a day; one before it no more. */
export async function rotateSecret(ctx: Ctx, id: string): Promise<WebhookWithSecret> {
  const secret = newSecret()
  const row = await changing(ctx, async (ctx) => {
    const current = await requireWebhook(ctx, id)
    return change(ctx, id, {
      sealed_secret: sealSecret(ctx.config.ENCRYPTION_KEYS, id, secret),
      sealed_former_secret: current.sealed_secret,
      former_secret_until: new Date(ctx.now().getTime() + bothSignMs),
    })
  })
  return { ...(await present(ctx, row)), secret }
}

export async function requireWebhook(ctx: Ctx, id: string): Promise<WebhookRow> {
  const row = await selectWebhook(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('webhook', id)
  return row
}

/**
 * Tells the workspace what its webhooks want. Belongs into every transaction that adds, changes, disables or deletes
 * one, after `lockWebhooks` and the change.
 */
export async function settleWanted(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<void> {
  const webhooks = await selectWebhooks(ctx.db, ctx.workspaceId)
  const enabled = webhooks.filter((webhook) => webhook.disabled_at === null)
  const triggers = [...new Set(enabled.flatMap((webhook) => webhook.triggers))].sort()
  await keepWebhooks(ctx, { triggers, ids: webhooks.map((webhook) => webhook.id) })
}

/** One change after the other, and the workspace knows of each what its webhooks want then. */
function changing(ctx: Ctx, work: (ctx: Ctx) => Promise<WebhookRow>): Promise<WebhookRow> {
  return transaction(ctx, async (ctx) => {
    await lockWebhooks(ctx.db, ctx.workspaceId)
    const row = await work(ctx)
    await settleWanted(ctx)
    return row
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

async function requireFolders(ctx: Ctx, ids: string[]): Promise<void> {
  const known = await knownFolderIds(ctx, ids)
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length > 0) {
    throw invalid(`\`folderIds\` in the body names folders that do not exist: ${missing.join(', ')}.`)
  }
}

function addressTaken(url: string) {
  return conflict(`Another webhook already has the address ${url}. Change that one, or choose another address.`)
}

async function presentAll(ctx: Ctx, rows: WebhookRow[]): Promise<Webhook[]> {
  const folders = await knownFolderIds(ctx, [...new Set(rows.flatMap((row) => row.folder_ids))])
  return rows.map((row) => presentWebhook(row, folders))
}

async function present(ctx: Ctx, row: WebhookRow): Promise<Webhook> {
  return (await presentAll(ctx, [row]))[0] as Webhook
}
