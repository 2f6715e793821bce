import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import type { NewClick } from '../src/features/event-storage/service.ts'
import type { ClickBatchStored } from '../src/features/ingest/messages.ts'
import { clickWebhooks, draftClicks } from '../src/features/ingest/webhooks.ts'
import type { LinkChanged } from '../src/features/links/messages.ts'
import { linkWebhooks } from '../src/features/links/webhooks.ts'
import type { ClickFactsResolved, ConversionRecorded } from '../src/features/track/messages.ts'
import { clickFactsRelease, conversionWebhooks } from '../src/features/track/webhooks.ts'
import { fanOut, releaseWaiting } from '../src/features/webhooks/fan-out.ts'
import { newSecret, sealSecret } from '../src/features/webhooks/secrets.ts'
import { insertWebhook, updateWebhookRow, type WebhookRow } from '../src/features/webhooks/store.ts'
import type { Platform } from '../src/platform/context.ts'
import { newId } from '../src/platform/ids.ts'

export type Heard = { path: string; headers: IncomingHttpHeaders; body: string; at: number }
export type Receiver = AsyncDisposable & { url: string; port: number; heard: Heard[] }

/** Settings that allow calls to servers on loopback. */
export const allowLoopback = { OUTBOUND_ALLOWED_HOSTS: '127.0.0.0/8', OUTBOUND_ALLOWED_PORTS: '1-65535' }

/** Starts a webhook receiver on loopback, which returns 204 by default. */
export async function startReceiver(
  answer: (response: ServerResponse, heard: Heard) => void = (response) => response.writeHead(204).end(),
  host = '127.0.0.1',
  atPort = 0,
): Promise<Receiver> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const call = { path: request.url ?? '', headers: request.headers, body, at: Date.now() }
      heard.push(call)
      answer(response, call)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(atPort, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    port,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type BuiltWebhook = WebhookRow & { secret: string }

/** Stores a webhook without checking its URL. */
export async function buildWebhook(
  platform: Platform,
  workspaceId: string,
  given: Partial<WebhookRow> & { url: string },
): Promise<BuiltWebhook> {
  const id = newId('whk')
  const secret = newSecret()
  await insertWebhook(platform.db, {
    id,
    workspace_id: workspaceId,
    name: 'test',
    url: given.url,
    triggers: ['link.created'],
    scope: 'workspace',
    folder_ids: [],
    sealed_secret: sealSecret(platform.config.ENCRYPTION_KEYS, id, secret),
    created_at: platform.now(),
    updated_at: platform.now(),
  })
  const row = await updateWebhookRow(platform.db, workspaceId, id, given)
  return { ...(row as WebhookRow), secret }
}

/** Queues events for these webhooks, due now. Returns the event ids. */
export async function queueEvents(platform: Platform, webhooks: WebhookRow[], count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('evt'))
  const at = platform.now()
  await sql`
    WITH listener AS (
      SELECT * FROM unnest(${webhooks.map((webhook) => webhook.workspace_id)}::text[],
        ${webhooks.map((webhook) => webhook.id)}::text[]) AS listener (workspace_id, webhook_id)
    ), told AS (SELECT unnest(${ids}::text[]) AS id), kept AS (
      INSERT INTO webhook_events (workspace_id, id, event, body, created_at)
      SELECT DISTINCT workspace_id, id, 'link.created', '{"id":"' || id || '"}', ${at}::timestamptz FROM listener, told
    )
    INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, started_at, due_at, created_at)
    SELECT workspace_id, webhook_id, id, 'link.created', ${at}, ${at}, ${at} FROM listener, told`.execute(platform.db)
  return ids
}

/** Returns the triggers of a workspace's enabled webhooks, and the ids of all its webhooks. */
export async function subscribed(platform: Platform, workspaceId: string) {
  const result = await sql<{ id: string; triggers: string[]; disabled_at: Date | null }>`
    SELECT id, triggers, disabled_at FROM webhooks WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL
    ORDER BY created_at, id`.execute(platform.db)
  const enabled = result.rows.filter(({ disabled_at }) => disabled_at === null)
  const triggers = [...new Set(enabled.flatMap((webhook) => webhook.triggers))].sort()
  return { triggers, ids: result.rows.map(({ id }) => id) }
}

export const fanOutLinks = (platform: Platform, changes: LinkChanged[]) => fanOut(platform, linkWebhooks, changes)

export const fanOutClicks = (platform: Platform, batches: ClickBatchStored[]) =>
  fanOut(platform, clickWebhooks, batches)

/** Handles these clicks as if they had arrived from NATS. */
export const enqueueClicks = (platform: Platform, clicks: NewClick[]) =>
  fanOut(platform, { ...clickWebhooks, read: () => draftClicks(platform, clicks) }, [])

export async function fanOutConversions(platform: Platform, recorded: ConversionRecorded[]): Promise<void> {
  for (const source of conversionWebhooks) {
    const mine = recorded.filter(({ kind }) => source.name === `webhooks-${kind}s`)
    await fanOut(platform, source, mine)
  }
}

export const releaseConversions = (platform: Platform, resolved: ClickFactsResolved[]) =>
  releaseWaiting(platform, clickFactsRelease, resolved)
