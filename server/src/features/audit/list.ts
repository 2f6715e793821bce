import type { AuditEntry, AuditExportQuery, AuditLogQuery } from '@tributary/contract/audit'
import type { Ctx, Platform } from '../../platform/context.ts'
import { csvLine } from '../../platform/csv.ts'
import { forbidden, invalid } from '../../platform/errors.ts'
import { openFor, type PersonKeys, readKeys } from './persons.ts'
import { type EntryFilter, type EntryRow, selectEntries, selectLastChangeFrom } from './store.ts'

/** Finds the names of users and of the workspace's keys by id; erased ones have none. */
export type ActorNames = (
  platform: Pick<Platform, 'db'>,
  workspaceId: string,
  ids: string[],
) => Promise<Map<string, string>>
/** Who reads the entries of which workspace. */
export type Reading = Pick<Ctx, 'db' | 'config' | 'workspaceId' | 'actor' | 'folderAccess'> & { actorNames: ActorNames }
type Stored = { kind: string; id: string; before?: object; after?: object }

const rowsAtOnce = 500
const mostSkipped = 100_000

/** Lists entries; `next` is the cursor of the next page. */
export async function listEntries(
  ctx: Reading,
  query: AuditLogQuery,
): Promise<{ entries: AuditEntry[]; next?: string }> {
  requireAllFolders(ctx)
  const { pageSize: count, cursor } = query
  const after = cursor === undefined ? undefined : BigInt(cursor)
  // Skipped entries are read, so a page far behind needs the cursor.
  const offset = after === undefined ? Math.min(mostSkipped, (query.page - 1) * count) : 0
  const page = { ascending: query.sortOrder === 'asc', after, offset, count: count + 1 }
  const rows = await selectEntries(ctx.db, ctx.workspaceId, parseFilter(query), page)
  const shown = rows.slice(0, count)
  const last = rows.length > count ? shown.at(-1) : undefined
  return { entries: await presentEntries(ctx, shown), ...(last && { next: String(last.sequence) }) }
}

export type ObjectChange = Pick<AuditEntry, 'at' | 'operation'> & {
  actor: Pick<AuditEntry['actor'], 'kind' | 'id'>
} & Pick<AuditEntry['changes'][number], 'before' | 'after'>

/**
 * Lists the changes of one object, without personal values. With `hidden`, it ends where the field last had
 * one of these values, because what the object was before is hidden, too.
 */
export async function listChanges(
  ctx: Ctx,
  targetId: string,
  {
    hidden,
    ...page
  }: { ascending: boolean; offset: number; count: number; hidden?: { field: string; values: string[] } },
): Promise<ObjectChange[]> {
  const { db, workspaceId } = ctx
  const fromSequence = hidden && (await selectLastChangeFrom(db, workspaceId, targetId, hidden))
  const rows = await selectEntries(db, workspaceId, { targetId, fromSequence }, page)
  return rows.map((row) => {
    const { at, operation, actor, changes } = presentEntry(row, undefined)
    const change = changes.find(({ id }) => id === targetId) ?? changes.find(({ id }) => id === '')
    const { before = null, after = null } = change ?? {}
    return { at, operation, actor: { kind: actor.kind, id: actor.id }, before, after }
  })
}

/** Lists the entries about a person, such as a customer, with the person's values and no others. */
export async function* listPersonEntries(
  ctx: Pick<Ctx, 'db' | 'config' | 'workspaceId'>,
  person: string,
): AsyncGenerator<AuditEntry> {
  const personal = { keys: await readKeys(ctx, [person]), names: new Map() }
  for (let after = 0n; ; ) {
    const page = { ascending: true, after, count: rowsAtOnce }
    const rows = await selectEntries(ctx.db, ctx.workspaceId, { targetId: person }, page)
    yield* rows.map((row) => presentEntry(row, personal))
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = last.sequence
  }
}

export function exportEntries(ctx: Reading, query: AuditExportQuery): AsyncIterable<string> {
  requireAllFolders(ctx)
  return exportLines(ctx, query, parseFilter(query))
}

async function* exportLines(ctx: Reading, { format }: AuditExportQuery, filter: EntryFilter): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns)
  for (let after = 0n; ; ) {
    const rows = await selectEntries(ctx.db, ctx.workspaceId, filter, { ascending: true, after, count: rowsAtOnce })
    const entries = await presentEntries(ctx, rows)
    yield entries.map((entry) => (format === 'csv' ? csvLine(cells(entry)) : `${JSON.stringify(entry)}\n`)).join('')
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = last.sequence
  }
}

/** Throws 403 for callers with hidden folders: entries of any operation may name the links of those folders. */
function requireAllFolders({ folderAccess }: Reading): void {
  if (!folderAccess || folderAccess.hidden.length === 0) return
  throw forbidden('The audit log is for callers who may read all folders. Ask an owner of the workspace for access.')
}

const columns = [
  ...[
    'sequence',
    'at',
    'actorKind',
    'actorId',
    'actorName',
    'credential',
    'network',
    'operation',
    'targetKind',
    'targetIds',
  ],
  ...['requestId', 'changes', 'hash'],
]

function cells({ sequence, at, actor, operation, target, requestId, changes, hash }: AuditEntry) {
  const who = [actor.kind, actor.id, actor.name, actor.credential, actor.network]
  return [sequence, at, ...who, operation, target.kind, target.ids.join(' '), requestId, JSON.stringify(changes), hash]
}

function parseFilter({ start, end, actorId, operation, targetId }: AuditExportQuery | AuditLogQuery): EntryFilter {
  const [from, until] = [start, end].map((time) => (time === undefined ? undefined : new Date(time)))
  if (from && until && from > until) throw invalid('`start` in the query must not be after `end`.')
  return { actorId, operation, targetId, from, until }
}

type Personal = { keys: PersonKeys; names: Map<string, string> }

async function presentEntries(ctx: Reading, rows: EntryRow[]): Promise<AuditEntry[]> {
  const personal = mayReadPersons(ctx) ? await readPersonal(ctx, rows) : undefined
  return rows.map((row) => presentEntry(row, personal))
}

async function readPersonal(ctx: Reading, rows: EntryRow[]): Promise<Personal> {
  const persons = rows.flatMap((row) => [row.person ?? '', ...sealedPersons(row.changes)])
  const actors = [...new Set(rows.map((row) => row.actor_id))]
  const [keys, names] = await Promise.all([readKeys(ctx, persons), ctx.actorNames(ctx, ctx.workspaceId, actors)])
  return { keys, names }
}

/** Whether the caller may read names, addresses and networks in entries. */
function mayReadPersons({ actor }: Pick<Reading, 'actor'>): boolean {
  return actor.scopes.includes('apis.all')
}

function presentEntry(row: EntryRow, personal: Personal | undefined): AuditEntry {
  const keys = personal?.keys
  const person = row.person ?? ''
  const network = row.sealed_network && openFor(keys?.get(person), person, row.sealed_network)
  return {
    sequence: Number(row.sequence),
    at: row.at.toISOString(),
    actor: {
      kind: row.actor_kind,
      id: row.actor_id,
      name: personal?.names.get(row.actor_id) ?? null,
      credential: row.credential,
      network: typeof network === 'string' ? network : null,
    },
    operation: row.operation,
    target: { kind: row.target_kind, ids: row.target_ids },
    requestId: row.request_id,
    changes: (row.changes as Stored[]).map(({ kind, id, before, after }) => ({
      kind,
      id,
      before: before ? (reveal(before, keys) as Record<string, unknown>) : null,
      after: after ? (reveal(after, keys) as Record<string, unknown>) : null,
    })),
    hash: row.hash.toString('hex'),
  }
}

/** Decrypts the personal values in stored fields, if the caller may read them and they are not erased. */
function reveal(value: unknown, keys: PersonKeys | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => reveal(item, keys))
  if (typeof value !== 'object' || value === null) return value
  const { $redacted: reason, $person: person, $sealed: sealed } = value as Record<string, unknown>
  if (typeof reason === 'string') return { redacted: reason }
  if (typeof person === 'string' && typeof sealed === 'string') {
    const opened = openFor(keys?.get(person), person, Buffer.from(sealed, 'base64'))
    return opened ?? { redacted: keys ? 'erased' : 'personal' }
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reveal(inner, keys)]))
}

function sealedPersons(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { $person: person } = value as Record<string, unknown>
  return typeof person === 'string' ? [person] : Object.values(value).flatMap(sealedPersons)
}
