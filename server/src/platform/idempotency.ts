import { createHash, createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { openByteCache } from './byte-cache.ts'
import type { Ctx, Platform } from './context.ts'
import { AppError, badRequest, conflict, errorEnvelope, forbidden, invalid } from './errors.ts'
import { type Db, savepoint, transaction } from './postgres.ts'
import { startInterval } from './schedule.ts'
import { seal, unseal } from './seal.ts'

export type Answer = { status: number; text: string }
type Asked = { key: string; hash: Buffer }
/** `sealed` is the encrypted response; releases before that column stored clear text in `response`. */
type Stored = { request_hash: Buffer; status: number; sealed: Buffer | null; response: string | null }
type Sealing = Pick<Ctx, 'config' | 'workspaceId'>

const retentionMs = 24 * 3_600_000
const cleanIntervalMs = 600_000
const cleanedAtOnce = 1_000
const sealedAtOnce = 100
const mostRead = 10_000
const longestMention = 300
/** Larger than the response to any accepted body, except a bulk change of large links. */
const largestAnswer = 2 * 1_048_576
/** Bytes of responses stored for repeated requests, per workspace: when last measured, and what this process added. */
type Usage = { measured: number; added: number; at: number }
const usages = openByteCache<Usage>({ maxBytes: 4_000_000, most: 20_000 })
const measuredAgainMs = 10_000
// Responses with these status codes are not stored: the same request may succeed later.
const passing = [401, 403, 429]
const queues = new Map<string, Promise<unknown>>()

/** Validates the `Idempotency-Key` header; returns undefined without the header. */
export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x20-\x7e]{1,255}$/.test(header)) return header
  throw badRequest('The header `Idempotency-Key` must have 1 to 255 printable ASCII characters.')
}

/** Hashes a request, to recognize a repeated one. */
export function requestHash(parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest()
}

/**
 * Does the work, unless the same request with this `Idempotency-Key` was answered before: then returns that response
 * with `isReplayed`. Response and work commit in one transaction. A concurrent duplicate waits, and does the work if
 * the first request fails.
 */
export async function withIdempotency(
  ctx: Ctx,
  asked: Asked,
  work: (ctx: Ctx) => Promise<Answer>,
): Promise<Answer & { isReplayed: boolean }> {
  // Visitors share a publishable key. Without the request's hash, one could find out which idempotency keys others use.
  const own = `page\n${asked.hash.toString('base64')}\n${asked.key}`
  const mine = ctx.actor.isPublishable ? { ...asked, key: own } : asked
  await measureStorage(ctx)
  const outcome = await inLine(`${ctx.workspaceId} ${mine.key}`, () => attempt(ctx, mine, work))
  if (outcome instanceof AppError) throw outcome
  return outcome
}

/**
 * Replaces stored responses that contain one of these ids with an error, so that a repeated request returns no personal
 * data and does not repeat the work. Deletes all stored errors: their messages may contain personal data.
 */
export async function forgetAnswers(ctx: Pick<Ctx, 'db' | 'workspaceId' | 'config'>, ids: string[]): Promise<void> {
  await sealOld(ctx, { workspaceId: ctx.workspaceId, count: Number.MAX_SAFE_INTEGER })
  await sql`DELETE FROM idempotency_keys WHERE workspace_id = ${ctx.workspaceId} AND status >= 400`.execute(ctx.db)
  const erasedConflict = conflict('The request was done, but its response was erased with the personal data in it.')
  const sealed = sealAnswer(ctx, JSON.stringify(errorEnvelope(erasedConflict, ctx.config.API_URL)))
  await sql`UPDATE idempotency_keys SET status = ${erasedConflict.status}, sealed = ${sealed}, mentions = NULL
    WHERE workspace_id = ${ctx.workspaceId} AND mentions && ${hashMentions(ctx, ids)}::bigint[]`.execute(ctx.db)
}

/** Reads stored responses that contain one of these ids, one at a time because each may be large. */
export async function* readAnswers(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'config'>,
  ids: string[],
): AsyncGenerator<{ key: string; status: number; createdAt: Date; text: string }> {
  const { db, workspaceId } = ctx
  const found = await sql<{ key: string }>`SELECT key FROM idempotency_keys WHERE workspace_id = ${workspaceId}
    AND mentions && ${hashMentions(ctx, ids)}::bigint[] AND sealed IS NOT NULL
    ORDER BY created_at LIMIT ${mostRead}`.execute(db)
  for (const { key } of found.rows) {
    const { rows } = await sql<Pick<Stored, 'status' | 'sealed'> & { created_at: Date }>`
      SELECT status, sealed, created_at FROM idempotency_keys
      WHERE workspace_id = ${workspaceId} AND key = ${key}`.execute(db)
    const [answer] = rows
    if (answer?.sealed)
      yield { key, status: answer.status, createdAt: answer.created_at, text: openAnswer(ctx, answer.sealed) }
  }
}

/** Deletes expired idempotency keys with their responses, and encrypts clear-text responses of earlier releases. */
export function startKeyExpiry(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'idempotency key expiry', cleanIntervalMs, async (signal) => {
    while (!signal.aborted && (await sealOld(platform, { count: sealedAtOnce })) === sealedAtOnce);
    while (!signal.aborted && (await deleteOld(platform)) === cleanedAtOnce);
  })
}

export async function deleteOld({ db, now }: Pick<Platform, 'db' | 'now'>): Promise<number> {
  const result = await sql`DELETE FROM idempotency_keys WHERE (workspace_id, key) IN (
    SELECT workspace_id, key FROM idempotency_keys WHERE created_at <= ${oldest(now())} LIMIT ${cleanedAtOnce}
    FOR UPDATE SKIP LOCKED)`.execute(db)
  return Number(result.numAffectedRows ?? 0)
}

type OldAnswer = { workspace_id: string; key: string; response: string }

export async function sealOld(
  { db, config }: Pick<Platform, 'db' | 'config'>,
  { workspaceId, count }: { workspaceId?: string; count: number },
): Promise<number> {
  const { rows } = await sql<OldAnswer>`SELECT workspace_id, key, response FROM idempotency_keys
    WHERE response IS NOT NULL AND (${workspaceId ?? null}::text IS NULL OR workspace_id = ${workspaceId ?? null})
    LIMIT ${count}`.execute(db)
  for (const { workspace_id, key, response } of rows) {
    const text = readOldAnswer({ config, workspaceId: workspace_id }, response)
    await sql`UPDATE idempotency_keys SET response = NULL, sealed = ${sealAnswer({ config, workspaceId: workspace_id }, text)},
      mentions = ${hashMentions({ config, workspaceId: workspace_id }, textsIn(text))}::bigint[]
      WHERE workspace_id = ${workspace_id} AND key = ${key} AND response IS NOT NULL`.execute(db)
  }
  return rows.length
}

/** Decodes responses of earlier releases, which encrypted only those with a secret, as base64. */
function readOldAnswer(ctx: Sealing, response: string): string {
  return /^[[{"]/.test(response) ? response : openAnswer(ctx, Buffer.from(response, 'base64'))
}

function sealAnswer({ config, workspaceId }: Sealing, text: string): Buffer {
  return seal(config.ENCRYPTION_KEYS, `answer ${workspaceId}`, text)
}

function openAnswer({ config, workspaceId }: Sealing, sealed: Buffer): string {
  return unseal(config.ENCRYPTION_KEYS, `answer ${workspaceId}`, sealed)
}

/** Hashes each text with every encryption key, because a stored response may be older than the newest key. */
function hashMentions({ config, workspaceId }: Sealing, texts: Iterable<string>): bigint[] {
  const secrets = [...config.ENCRYPTION_KEYS.secrets.values()]
  return [...new Set(texts)].flatMap((text) =>
    secrets.map((secret) =>
      createHmac('sha256', secret).update(`mention ${workspaceId}\n${text}`).digest().readBigInt64BE(),
    ),
  )
}

/** Returns every string in a JSON response, at any depth; strings over 300 characters identify nobody. */
function textsIn(json: string): Set<string> {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value === 'string' && value.length <= longestMention) found.add(value)
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) visit(inner)
  }
  if (json !== '') visit(JSON.parse(json))
  return found
}

/** Sums the stored responses of the workspace, which reads them all: rarely, and before the transaction. */
async function measureStorage(ctx: Ctx): Promise<void> {
  const usage = usageIn(ctx)
  const { bytes, limit } = storageIn(ctx)
  const now = performance.now()
  if (usage.added <= limit / 10 && (bytes < limit || now - usage.at < measuredAgainMs)) return
  const measured = await sumStored(ctx.db, ctx.workspaceId)
  Object.assign(usage, { measured, added: 0, at: now })
}

/** Throws 403 above the storage limit: responses can be far larger than requests, so request limits don't bound them. */
function requireStorage(ctx: Ctx): void {
  const { bytes, limit } = storageIn(ctx)
  if (bytes < limit) return
  throw forbidden(
    `The stored responses of this workspace to requests with an \`Idempotency-Key\` take ${limit / 1_000_000} MB, the limit IDEMPOTENCY_STORAGE_MEGABYTES of this server. Each is kept for a day. Send requests without the header, or change fewer objects in one request.`,
  )
}

function storageIn(ctx: Ctx): { bytes: number; limit: number } {
  const { measured, added } = usageIn(ctx)
  return { bytes: measured + added, limit: ctx.config.IDEMPOTENCY_STORAGE_MEGABYTES * 1_000_000 }
}

function usageIn({ workspaceId }: Pick<Ctx, 'workspaceId'>): Usage {
  const usage = usages.get(workspaceId) ?? { measured: 0, added: 0, at: 0 }
  usages.set(workspaceId, usage)
  return usage
}

function requireSmall(answer: Answer): Answer {
  const bytes = Buffer.byteLength(answer.text)
  if (bytes <= largestAnswer) return answer
  throw invalid(
    `The response has ${bytes} bytes, above the limit of ${largestAnswer} for an \`Idempotency-Key\`. Nothing was changed. Change fewer objects in one request, or send it without the header.`,
  )
}

async function sumStored(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ bytes: string }>`SELECT coalesce(sum(octet_length(sealed)), 0)::text AS bytes
    FROM idempotency_keys WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.bytes)
}

/** Runs a request once. Returns errors instead of throwing them, because errors are stored as well. */
async function attempt(
  ctx: Ctx,
  asked: Asked,
  work: (ctx: Ctx) => Promise<Answer>,
): Promise<(Answer & { isReplayed: boolean }) | AppError> {
  return transaction(ctx, async (ctx) => {
    while (!(await claim(ctx, asked))) {
      const stored = await selectAnswer(ctx.db, ctx.workspaceId, asked.key)
      if (stored) return replay(ctx, stored, asked)
    }
    requireStorage(ctx)
    const outcome = await savepoint(ctx, async (ctx) => requireSmall(await work(ctx))).catch((error: unknown) => {
      if (error instanceof AppError && error.status < 500 && !passing.includes(error.status)) return error
      throw error
    })
    const answer =
      outcome instanceof AppError
        ? { status: outcome.status, text: JSON.stringify(errorEnvelope(outcome, ctx.config.API_URL)) }
        : outcome
    await storeAnswer(ctx, asked.key, answer)
    return outcome instanceof AppError ? outcome : { ...outcome, isReplayed: false }
  })
}

function replay(ctx: Sealing, { request_hash, status, sealed, response }: Stored, { key, hash }: Asked) {
  if (request_hash.equals(hash)) {
    const text = sealed ? openAnswer(ctx, sealed) : readOldAnswer(ctx, response ?? '{}')
    return { status, text, isReplayed: true }
  }
  throw invalid(`The \`Idempotency-Key\` ${key} was used for another request. Use a new key for each request.`)
}

/** Inserts the key, or replaces an expired one; waits for a concurrent duplicate. True for the request that does the work. */
async function claim(ctx: Ctx, { key, hash }: Asked): Promise<boolean> {
  const now = ctx.now()
  const result = await sql`
    INSERT INTO idempotency_keys AS known (workspace_id, key, request_hash, created_at)
    VALUES (${ctx.workspaceId}, ${key}, ${hash}, ${now})
    ON CONFLICT (workspace_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, created_at = excluded.created_at, status = NULL, response = NULL,
          sealed = NULL, mentions = NULL
      WHERE known.created_at <= ${oldest(now)}
    RETURNING key`.execute(ctx.db)
  return result.rows.length > 0
}

async function selectAnswer(db: Db, workspaceId: string, key: string): Promise<Stored | undefined> {
  const result = await sql<Stored>`SELECT request_hash, status, sealed, response FROM idempotency_keys
    WHERE workspace_id = ${workspaceId} AND key = ${key}`.execute(db)
  return result.rows[0]
}

async function storeAnswer(ctx: Ctx, key: string, { status, text }: Answer): Promise<void> {
  const mentions = status < 400 ? hashMentions(ctx, textsIn(text)) : []
  const sealed = sealAnswer(ctx, text)
  usageIn(ctx).added += sealed.length
  await sql`UPDATE idempotency_keys
    SET status = ${status}, sealed = ${sealed}, mentions = ${mentions}::bigint[]
    WHERE workspace_id = ${ctx.workspaceId} AND key = ${key}`.execute(ctx.db)
}

/** Queues requests with the same key in this process, so that waiting duplicates don't occupy PostgreSQL connections. */
async function inLine<R>(name: string, work: () => Promise<R>): Promise<R> {
  const turn = (queues.get(name) ?? Promise.resolve()).then(work, work)
  queues.set(name, turn)
  try {
    return await turn
  } finally {
    if (queues.get(name) === turn) queues.delete(name)
  }
}

function oldest(now: Date): Date {
  return new Date(now.getTime() - retentionMs)
}
