import type { Trigger, Webhook } from '@tributary/contract/webhooks'
import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type WebhookRow = {
  id: string
  workspace_id: string
  name: string
  url: string
  triggers: Trigger[]
  scope: Webhook['linkScope']
  folder_ids: string[]
  sealed_secret: Buffer
  sealed_former_secret: Buffer | null
  former_secret_until: Date | null
  disabled_at: Date | null
  disabled_reason: Webhook['disabledReason']
  failing_since: Date | null
  created_at: Date
  updated_at: Date
  /** The time of deletion. A deleted webhook is disabled too; the worker deletes its rows later. */
  deleted_at: Date | null
}
export type NewWebhookRow = Omit<
  WebhookRow,
  'sealed_former_secret' | 'former_secret_until' | 'disabled_at' | 'disabled_reason' | 'failing_since' | 'deleted_at'
>
export type WebhookChanges = Partial<Omit<WebhookRow, 'id' | 'workspace_id' | 'created_at'>>
type Tables = { webhooks: NewWebhookRow & Partial<WebhookRow> }

/** Holds a lock that blocks changes to this workspace's webhooks until the transaction ends. */
export async function lockWebhooks(db: Db, workspaceId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${workspaceId}, ${locks.webhooks}))`.execute(db)
}

/** Inserts a webhook. Violates the unique index `webhooks_url` when the URL is taken. */
export async function insertWebhook(db: Db, row: NewWebhookRow & Partial<WebhookRow>): Promise<WebhookRow> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('webhooks')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
  return inserted as WebhookRow
}

export type WebhookPage = { sort: 'createdAt' | 'name'; ascending: boolean; offset: number; count: number }

/** A page of the workspace's webhooks; without `page` all of them, oldest first. */
export async function selectWebhooks(db: Db, workspaceId: string, page?: WebhookPage): Promise<WebhookRow[]> {
  const direction = page?.ascending === false ? sql`DESC` : sql`ASC`
  const order = page?.sort === 'name' ? sql`lower(name)` : sql`created_at`
  const result = await sql<WebhookRow>`SELECT * FROM webhooks
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL ORDER BY ${order} ${direction}, id ${direction}
    LIMIT ${page?.count ?? null} OFFSET ${page?.offset ?? 0}`.execute(db)
  return result.rows
}

export async function selectWebhook(db: Db, workspaceId: string, id: string): Promise<WebhookRow | undefined> {
  const result = await sql<WebhookRow>`SELECT * FROM webhooks
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND deleted_at IS NULL`.execute(db)
  return result.rows[0]
}

/** Updates a webhook; undefined when it does not exist. Violates the unique index `webhooks_url` for a taken URL. */
export async function updateWebhookRow(
  db: Db,
  workspaceId: string,
  id: string,
  changes: WebhookChanges,
): Promise<WebhookRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('webhooks')
    .set(changes)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row as WebhookRow | undefined
}

export type ListenerRow = Pick<WebhookRow, 'id' | 'triggers' | 'scope' | 'folder_ids' | 'created_at'>

export async function selectKnownIds(db: Db, workspaceId: string, ids: string[]): Promise<string[]> {
  const result = await sql<{ id: string }>`SELECT id FROM webhooks
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) AND deleted_at IS NULL`.execute(db)
  return result.rows.map((row) => row.id)
}

/** The SQL condition that all of these webhooks exist. */
export function existingWebhooks({ workspace, ids }: Record<'workspace' | 'ids', string>): string {
  return `(cardinality(${ids}) = 0 OR cardinality(${ids}) = (SELECT count(*) FROM webhooks w
    WHERE w.workspace_id = ${workspace} AND w.id = ANY(${ids}) AND w.deleted_at IS NULL))`
}

/** The enabled webhooks with one of these triggers. In a transaction, locks their rows against deletion. */
export async function selectListeners(db: Db, workspaceId: string, triggers: Trigger[]): Promise<ListenerRow[]> {
  const rowLock = db.isTransaction ? sql`FOR KEY SHARE` : sql``
  const result = await sql<ListenerRow>`SELECT id, triggers, scope, folder_ids, created_at FROM webhooks
    WHERE workspace_id = ${workspaceId} AND triggers && ${triggers}::text[]
      AND disabled_at IS NULL AND deleted_at IS NULL ORDER BY id ${rowLock}`.execute(db)
  return result.rows
}

/** Finds workspaces with an enabled webhook for one of these triggers; null searches all workspaces. */
export async function selectListening(
  db: AllWorkspacesDb,
  triggers: Trigger[],
  workspaceIds: string[] | null,
): Promise<Set<string>> {
  const among = workspaceIds === null ? sql`true` : sql`workspace_id = ANY(${workspaceIds}::text[])`
  const result = await sql<{ workspace_id: string }>`SELECT DISTINCT workspace_id FROM webhooks
    WHERE ${among} AND triggers && ${triggers}::text[] AND disabled_at IS NULL AND deleted_at IS NULL`.execute(db)
  return new Set(result.rows.map((row) => row.workspace_id))
}

/** Disables a webhook if its URL and `failing_since` (null: any) are unchanged. Returns whether it was disabled. */
export async function disableWebhook(
  db: Db,
  { workspace_id, webhook_id, url }: { workspace_id: string; webhook_id: string; url: string },
  { reason, now, failingSince }: { reason: 'gone' | 'failing'; now: Date; failingSince: Date | null },
): Promise<boolean> {
  const result = await sql`
    UPDATE webhooks SET disabled_at = ${now}, disabled_reason = ${reason}, updated_at = ${now}
    WHERE workspace_id = ${workspace_id} AND id = ${webhook_id} AND url = ${url} AND disabled_at IS NULL
      AND (${failingSince}::timestamptz IS NULL OR failing_since = ${failingSince}) RETURNING id`.execute(db)
  return result.rows.length > 0
}
