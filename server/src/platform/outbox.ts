import { sql } from 'kysely'
import { sleep } from './clock.ts'
import type { Ctx, Platform } from './context.ts'
import { jetStream } from './nats.ts'
import { type Db, openConnection } from './postgres.ts'

export type Message = { subject: string; body: unknown }

const channel = 'outbox'
const lock = 7_240_811
const batchSize = 500

/** Part of the caller's transaction: the message goes out if and only if that commits. */
export async function publish(ctx: Pick<Ctx, 'db' | 'workspaceId'>, ...messages: Message[]): Promise<void> {
  const rows = messages.map(
    (message) => sql`(${ctx.workspaceId}, ${message.subject}, ${JSON.stringify(message.body)}::jsonb)`,
  )
  await sql`INSERT INTO outbox (workspace_id, subject, body) VALUES ${sql.join(rows)}`.execute(ctx.db)
  await sql`SELECT pg_notify(${channel}, '')`.execute(ctx.db)
}

/** Moves committed messages to the log. Of several processes one works, the others stand by. */
export function startRelay(platform: Platform): AsyncDisposable {
  const stopping = new AbortController()
  const work = relay(platform, stopping.signal)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await work
    },
  }
}

async function relay(platform: Platform, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const connection = openConnection(platform.config)
    try {
      await connection.connect()
      const leads = await connection.query('SELECT pg_try_advisory_lock($1) AS taken', [lock])
      if (!leads.rows[0].taken) {
        await sleep(1_000, signal)
        continue
      }
      let heard = new AbortController()
      connection.on('notification', () => heard.abort())
      connection.on('end', () => heard.abort())
      await connection.query(`LISTEN ${channel}`)
      while (!signal.aborted) {
        heard = new AbortController()
        // Fails when the connection is gone, and with it the lock.
        await connection.query('SELECT 1')
        const moved = await moveBatch(platform)
        if (moved < batchSize) await sleep(1_000, AbortSignal.any([signal, heard.signal]))
      }
    } catch (error) {
      platform.log.warn({ error: (error as Error).message }, 'The outbox relay was interrupted and tries again')
      await sleep(500, signal)
    } finally {
      await connection.end().catch(() => {})
    }
  }
}

async function moveBatch(platform: Platform): Promise<number> {
  const rows = await selectOutbox(platform.db)
  if (rows.length === 0) return 0
  const stream = jetStream(platform.nats)
  await Promise.all(
    rows.map((row) => stream.publish(row.subject, JSON.stringify(row.body), { msgID: `outbox-${row.id}` })),
  )
  await sql`DELETE FROM outbox WHERE id = ANY(${rows.map((row) => row.id)}::bigint[])`.execute(platform.db)
  platform.metrics.relayed.inc(rows.length)
  return rows.length
}

// NOTE every workspace: the relay serves them all.
async function selectOutbox(db: Db) {
  const result = await sql<{ id: bigint; subject: string; body: unknown }>`
    SELECT id, subject, body FROM outbox ORDER BY id LIMIT ${batchSize}`.execute(db)
  return result.rows
}
