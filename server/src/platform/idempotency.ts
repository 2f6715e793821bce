import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Ctx, Platform } from './context.ts'
import { AppError, badRequest, conflict, envelopeOf, invalid } from './errors.ts'
import { type Db, savepoint, transaction } from './postgres.ts'
import { every } from './schedule.ts'

export type Answer = { status: number; text: string }
type Asked = { key: string; hash: Buffer }
type Stored = { request_hash: Buffer; status: number; response: string }

const keptMs = 24 * 3_600_000
const cleanedEveryMs = 600_000
const cleanedAtOnce = 1_000
// Another request may succeed later without any change of its own, so nobody is held to them.
const passing = [401, 403, 429]
const lines = new Map<string, Promise<unknown>>()

/** Undefined when the client sent none. */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x20-\x7e]{1,255}$/.test(header)) return header
  throw badRequest('The header `Idempotency-Key` must have 1 to 255 printable ASCII characters.')
}

/** What makes two requests the same. */
export function requestHash(parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest()
}

/**
 * Does the work, unless the same request with this key was answered before: then that answer, and `isReplayed`. The
 * answer and what the work wrote are one transaction. A twin that comes meanwhile waits; when the first one fails, it
 * does the work.
 */
export async function once(
  ctx: Ctx,
  asked: Asked,
  work: (ctx: Ctx) => Promise<Answer>,
): Promise<Answer & { isReplayed: boolean }> {
  // Visitors of a page must not use up the keys of the server.
  const mine = ctx.actor.isPublishable ? { ...asked, key: `page\n${asked.key}` } : asked
  const outcome = await inLine(`${ctx.workspaceId} ${mine.key}`, () => attempt(ctx, mine, work))
  if (outcome instanceof AppError) throw outcome
  return outcome
}

/**
 * Stored answers that name one of these ids are given no more; the work is not done again either. Refusals that have
 * one of these words go as a whole: nothing was done.
 */
export async function forgetAnswers(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'config'>,
  { ids, words }: { ids: string[]; words: string[] },
): Promise<void> {
  const mentioned = words.map((word) => JSON.stringify(word).slice(1, -1))
  await sql`DELETE FROM idempotency_keys WHERE workspace_id = ${ctx.workspaceId} AND status >= 400
    AND EXISTS (SELECT FROM unnest(${mentioned}::text[]) AS word WHERE strpos(response, word) > 0)`.execute(ctx.db)
  const gone = conflict('The request was done, but its answer was erased together with the customer it named.')
  const response = JSON.stringify(envelopeOf(gone, ctx.config.API_URL))
  await sql`UPDATE idempotency_keys SET status = ${gone.status}, response = ${response}
    WHERE workspace_id = ${ctx.workspaceId} AND status < 400
    AND EXISTS (SELECT FROM unnest(${ids.map((id) => JSON.stringify(id))}::text[]) AS id WHERE strpos(response, id) > 0)`.execute(
    ctx.db,
  )
}

/** Old keys are free again, and their answers gone. */
export function startKeyExpiry(platform: Platform): AsyncDisposable {
  return every(platform, 'expiry of idempotency keys', cleanedEveryMs, async (signal) => {
    while (!signal.aborted && (await deleteOld(platform)) === cleanedAtOnce);
  })
}

// NOTE every workspace: the keys of all of them grow old.
export async function deleteOld({ db, now }: Pick<Platform, 'db' | 'now'>): Promise<number> {
  const result = await sql`DELETE FROM idempotency_keys WHERE (workspace_id, key) IN (
    SELECT workspace_id, key FROM idempotency_keys WHERE created_at <= ${oldest(now())} LIMIT ${cleanedAtOnce}
    FOR UPDATE SKIP LOCKED)`.execute(db)
  return Number(result.numAffectedRows ?? 0)
}

/** A refusal is given back, not thrown: it is stored as well. */
async function attempt(
  ctx: Ctx,
  asked: Asked,
  work: (ctx: Ctx) => Promise<Answer>,
): Promise<(Answer & { isReplayed: boolean }) | AppError> {
  return transaction(ctx, async (ctx) => {
    while (!(await claim(ctx, asked))) {
      const stored = await selectAnswer(ctx.db, ctx.workspaceId, asked.key)
      if (stored) return replay(stored, asked)
    }
    const outcome = await savepoint(ctx, work).catch((error: unknown) => {
      if (error instanceof AppError && error.status < 500 && !passing.includes(error.status)) return error
      throw error
    })
    const answer =
      outcome instanceof AppError
        ? { status: outcome.status, text: JSON.stringify(envelopeOf(outcome, ctx.config.API_URL)) }
        : outcome
    await storeAnswer(ctx.db, ctx.workspaceId, asked.key, answer)
    return outcome instanceof AppError ? outcome : { ...outcome, isReplayed: false }
  })
}

function replay({ request_hash, status, response }: Stored, { key, hash }: Asked) {
  if (request_hash.equals(hash)) return { status, text: response, isReplayed: true }
  throw invalid(
    `The \`Idempotency-Key\` ${key.replace('page\n', '')} was used for another request. Use a new key for each request.`,
  )
}

/** True for the one who does the work. Waits for the transaction of a twin; an old row counts as none. */
async function claim(ctx: Ctx, { key, hash }: Asked): Promise<boolean> {
  const now = ctx.now()
  const result = await sql`
    INSERT INTO idempotency_keys AS known (workspace_id, key, request_hash, created_at)
    VALUES (${ctx.workspaceId}, ${key}, ${hash}, ${now})
    ON CONFLICT (workspace_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, created_at = excluded.created_at, status = NULL, response = NULL
      WHERE known.created_at <= ${oldest(now)}
    RETURNING key`.execute(ctx.db)
  return result.rows.length > 0
}

async function selectAnswer(db: Db, workspaceId: string, key: string): Promise<Stored | undefined> {
  const result = await sql<Stored>`SELECT request_hash, status, response FROM idempotency_keys
    WHERE workspace_id = ${workspaceId} AND key = ${key}`.execute(db)
  return result.rows[0]
}

async function storeAnswer(db: Db, workspaceId: string, key: string, { status, text }: Answer): Promise<void> {
  await sql`UPDATE idempotency_keys SET status = ${status}, response = ${text}
    WHERE workspace_id = ${workspaceId} AND key = ${key}`.execute(db)
}

/** One at a time in this process, so that twins who wait do not each hold a connection that the first may need. */
async function inLine<R>(name: string, work: () => Promise<R>): Promise<R> {
  const turn = (lines.get(name) ?? Promise.resolve()).then(work, work)
  lines.set(name, turn)
  try {
    return await turn
  } finally {
    if (lines.get(name) === turn) lines.delete(name)
  }
}

function oldest(now: Date): Date {
  return new Date(now.getTime() - keptMs)
}
