import { createHmac } from 'node:crypto'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Config } from '../../platform/config.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'
import { transaction } from '../../platform/postgres.ts'
import type { Performed, Recorder } from '../../platform/recording.ts'
import { listChanges, listPersonEntries, type ObjectChange } from './list.ts'
import { forgetKeys, loadActorKey } from './persons.ts'
import { type AuditEvent, buildEntries, findPerson, recordEvent, recordWrite } from './record.ts'
import { incrementCount, insertEntries, insertEntryFragment, insertNetwork, type NewEntry } from './store.ts'
import { type AuditFinding, verifyChains } from './verify.ts'

export type AuditProblem = AuditFinding

const mostNetworks = 100
const knownNetworks = memoByObject((_: Config) => openByteCache<true>({ maxBytes: 4_000_000 }))

/** The audit log for `serve`. */
export const auditLog: Recorder = {
  prepare: (ctx) => loadActorKey(ctx, findPerson(ctx.actor)),
  record: recordWrite,
  noticeNetwork,
}

/** Records something that is not a write through the API, in the caller's transaction if there is one. */
export function recordAudit(platform: Pick<Platform, 'db' | 'config' | 'now'>, event: AuditEvent): Promise<void> {
  return recordEvent(platform, event)
}

/**
 * Records an event that strangers can cause, at most `most` times an hour under this name. With a `most` of zero, the
 * events are only counted; after the hour, one entry has their number.
 */
export async function recordLimited(
  platform: Pick<Platform, 'db' | 'config' | 'now'>,
  event: AuditEvent,
  { name, most }: { name: string; most: number },
): Promise<void> {
  const count = await incrementCount(platform.db, name, platform.now())
  if (count <= most) await recordEvent(platform, event)
}

/** The SQL that inserts entries in another statement; `entry` is a JSON column with a result of `groupedEntries`. */
export function entryInsertion(parts: Record<'from' | 'entry', string>): string {
  return insertEntryFragment(parts)
}

/** Builds the entries of requests that share a statement; undefined for a request that is not audited. */
export async function groupedEntries(
  ctx: Ctx,
  requests: { ctx: Ctx; performed: Performed }[],
): Promise<(NewEntry | undefined)[]> {
  const audited = requests.filter(({ ctx }) => ctx.record)
  const entries = audited.length === 0 ? [] : await buildEntries(ctx, audited)
  return requests.map(({ ctx }) => (ctx.record ? entries.shift() : undefined))
}

/** Records requests that share a transaction, in that transaction. */
export async function recordGrouped(ctx: Ctx, requests: { ctx: Ctx; performed: Performed }[]): Promise<void> {
  const entries = (await groupedEntries(ctx, requests)).filter((entry) => entry !== undefined)
  if (entries.length > 0) await insertEntries(ctx.db, entries)
  markWritten(requests)
}

/** Marks requests whose entries are inserted, so that they are not recorded a second time. */
export function markWritten(requests: { ctx: Ctx }[]): void {
  for (const { ctx } of requests) if (ctx.record) ctx.record.isWritten = true
}

/** Erases the values of persons in all entries, in the caller's transaction. The chains still verify. */
export function forgetPersons(platform: Pick<Platform, 'db' | 'config'>, persons: string[]): Promise<void> {
  return forgetKeys(platform, persons)
}

/** Lists the changes of one object, without personal values; see `listChanges`. */
export function changesOfObject(...input: Parameters<typeof listChanges>): Promise<ObjectChange[]> {
  return listChanges(...input)
}

/** Lists the sealed entries about a person with the person's values, oldest first. */
export function personEntries(...input: Parameters<typeof listPersonEntries>) {
  return listPersonEntries(...input)
}

/** Checks that the audit log is as it was sealed. */
export function verifyAudit(
  platform: Pick<Platform, 'db' | 'config'>,
  options: { workspaceId?: string },
): Promise<AuditProblem[]> {
  return verifyChains(platform, options)
}

/** Records the first use of a key from a network; a key has at most a hundred of these entries. */
async function noticeNetwork(ctx: Ctx, network: string): Promise<void> {
  const { actor, config, log } = ctx
  if (actor.kind !== 'key' || actor.isPublishable) return
  const name = `${actor.id} ${network}`
  const known = knownNetworks(config)
  if (known.has(name)) return
  known.set(name, true)
  try {
    await loadActorKey(ctx, findPerson(actor))
    await transaction(ctx, (ctx) => recordNetwork(ctx, network))
  } catch (error) {
    // The next request tries again; this one must not fail for it.
    known.delete(name)
    log.warn({ error, key: actor.id }, 'use of a key from a new network was not recorded')
  }
}

async function recordNetwork(ctx: Ctx, network: string): Promise<void> {
  const { actor, config, workspaceId, requestId } = ctx
  const secret = config.ENCRYPTION_KEYS.secrets.get(config.ENCRYPTION_KEYS.current) as Buffer
  const hash = createHmac('sha256', secret).update(`network ${actor.id} ${network}`).digest().subarray(0, 16)
  if (!(await insertNetwork(ctx.db, workspaceId, { keyId: actor.id, network: hash, most: mostNetworks }))) return
  const target = { kind: 'tokens', ids: [actor.id] }
  const event = { operation: 'key.new-network', actor, workspaceId, credential: actor.id, target }
  await recordEvent(ctx, { ...event, person: findPerson(actor), network, requestId })
}
