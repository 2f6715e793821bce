import type { BulkOperation } from '@tributary/contract/bulk-operations'
import type { BulkFilter } from '@tributary/contract/link-filters'
import type { ActorKind } from '@tributary/contract/operation'
import { type RawBuilder, sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type NewOperationRow = {
  id: string
  workspace_id: string
  actor_kind: ActorKind
  actor_id: string
  credential: string | null
  folder_access: { hidden: string[]; readOnly: string[] } | null
  action: BulkOperation['action']
  filter: BulkFilter
  data: object | null
  sealed_password: Buffer | null
  tag_ids: string[] | null
  folder_id: string | null
}
export type StoredActor = { kind: ActorKind; id: string; credential: string | null }
export type OperationRow = NewOperationRow & {
  number: bigint
  undo_actor: StoredActor | null
  status: Exclude<BulkOperation['status'], 'dryRun'>
  error: string | null
  attempts: number
  position: bigint
  stored_bytes: bigint
  created_at: Date
  finished_at: Date | null
  expired_at: Date | null
} & Record<'total' | 'processed' | 'changed' | 'unchanged' | 'failed' | 'undone' | 'conflicts', number>

/** Serializes the creation and undo of operations in a workspace until the transaction ends. */
export async function lockOperations(db: Db, workspaceId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${workspaceId}, ${locks.bulkOperations}))`.execute(db)
}

export async function countOpen(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM bulk_operations
    WHERE workspace_id = ${workspaceId} AND status IN ('running', 'undoing')`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Counts the links that a selection has, up to `most`. */
export async function countSelected(db: Db, selection: RawBuilder<unknown>, most: number): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM (SELECT FROM (${selection}) AS selected LIMIT ${most}) AS counted`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function selectSample(db: Db, selection: RawBuilder<unknown>, count: number): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`
    SELECT number FROM (${selection}) AS selected ORDER BY number DESC LIMIT ${count}`.execute(db)
  return result.rows.map((row) => row.number)
}

/** Stores an operation with the links that it will change, up to `most`. */
export async function insertOperation(
  db: Db,
  row: NewOperationRow,
  selection: RawBuilder<unknown>,
  most: number,
): Promise<OperationRow> {
  const result =
    await sql<OperationRow>`INSERT INTO bulk_operations (id, workspace_id, actor_kind, actor_id, credential,
      folder_access, action, filter, data, sealed_password, tag_ids, folder_id, total)
    VALUES (${row.id}, ${row.workspace_id}, ${row.actor_kind}, ${row.actor_id}, ${row.credential},
      ${row.folder_access && JSON.stringify(row.folder_access)}::jsonb, ${row.action}, ${JSON.stringify(row.filter)}::jsonb,
      ${row.data && JSON.stringify(row.data)}::jsonb, ${row.sealed_password}, ${row.tag_ids}::text[], ${row.folder_id}, 0)
    RETURNING *`.execute(db)
  const operation = result.rows[0] as OperationRow
  const links = await sql`INSERT INTO bulk_operation_links (operation_number, workspace_id, link_number)
    SELECT ${operation.number}, ${row.workspace_id}, number FROM (${selection}) AS selected LIMIT ${most}`.execute(db)
  const total = Number(links.numAffectedRows ?? 0)
  await sql`UPDATE bulk_operations SET total = ${total} WHERE number = ${operation.number}`.execute(db)
  return { ...operation, total }
}

/** Reads an operation; with `actorId`, only one of this actor. */
export async function selectOperation(
  db: Db,
  workspaceId: string,
  id: string,
  { actorId, isLocked = false }: { actorId?: string; isLocked?: boolean } = {},
): Promise<OperationRow | undefined> {
  const mine = actorId === undefined ? sql`true` : sql`actor_id = ${actorId}`
  const result = await sql<OperationRow>`SELECT * FROM bulk_operations
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND ${mine} ${isLocked ? sql`FOR UPDATE` : sql``}`.execute(db)
  return result.rows[0]
}

export async function selectOperations(
  db: Db,
  workspaceId: string,
  { actorId, ascending, offset, count }: { actorId?: string; ascending: boolean; offset: number; count: number },
): Promise<OperationRow[]> {
  const mine = actorId === undefined ? sql`true` : sql`actor_id = ${actorId}`
  const result = await sql<OperationRow>`SELECT * FROM bulk_operations WHERE workspace_id = ${workspaceId} AND ${mine}
    ORDER BY number ${ascending ? sql`ASC` : sql`DESC`} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

export async function selectProblems(
  db: Db,
  workspaceId: string,
  operationNumber: bigint,
  count: number,
): Promise<{ number: bigint; problem: string }[]> {
  const result = await sql<{ number: bigint; problem: string }>`SELECT link_number AS number, problem
    FROM bulk_operation_links
    WHERE workspace_id = ${workspaceId} AND operation_number = ${operationNumber} AND problem IS NOT NULL
    ORDER BY link_number LIMIT ${count}`.execute(db)
  return result.rows
}

export async function cancelOperation(db: Db, workspaceId: string, number: bigint, at: Date): Promise<void> {
  await sql`UPDATE bulk_operations SET status = 'canceled', finished_at = ${at}
    WHERE workspace_id = ${workspaceId} AND number = ${number}`.execute(db)
}

export async function startUndo(
  db: Db,
  workspaceId: string,
  number: bigint,
  { actor, folderAccess }: { actor: StoredActor; folderAccess: NewOperationRow['folder_access'] },
): Promise<void> {
  await sql`UPDATE bulk_operations SET status = 'undoing', position = 0, processed = 0, attempts = 0, finished_at = NULL,
      error = NULL, touched_at = now(), undo_actor = ${JSON.stringify(actor)}::jsonb,
      folder_access = ${folderAccess && JSON.stringify(folderAccess)}::jsonb
    WHERE workspace_id = ${workspaceId} AND number = ${number}`.execute(db)
}

/** Locks the open operation that waits longest, unless another worker has locked it. */
export async function claimOperation(db: AllWorkspacesDb): Promise<OperationRow | undefined> {
  const result = await sql<OperationRow>`SELECT * FROM bulk_operations WHERE status IN ('running', 'undoing')
    ORDER BY touched_at LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(db)
  return result.rows[0]
}

export type StoredLink = {
  number: bigint
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** Reads the next links of an operation, after its position. */
export async function selectNextLinks(db: Db, { workspace_id, number, position }: OperationRow, count: number) {
  const result = await sql<StoredLink>`SELECT link_number AS number, before, after FROM bulk_operation_links
    WHERE workspace_id = ${workspace_id} AND operation_number = ${number} AND link_number > ${position}
    ORDER BY link_number LIMIT ${count}`.execute(db)
  return result.rows
}

export type StoredOutcome = { number: string; before?: object; after?: object; problem?: string }

/** Stores the values before and after, and the problems, of links. Returns how many bytes the values have. */
export async function storeOutcomes(
  db: Db,
  { workspace_id, number }: Pick<OperationRow, 'workspace_id' | 'number'>,
  outcomes: StoredOutcome[],
): Promise<number> {
  if (outcomes.length === 0) return 0
  const json = JSON.stringify(outcomes)
  await sql`UPDATE bulk_operation_links AS stored
    SET before = given.before, after = given.after, problem = given.problem
    FROM jsonb_to_recordset(${json}::jsonb) AS given (number bigint, before jsonb, after jsonb, problem text)
    WHERE stored.workspace_id = ${workspace_id} AND stored.operation_number = ${number}
      AND stored.link_number = given.number`.execute(db)
  return Buffer.byteLength(json)
}

export type Progress = Pick<OperationRow, 'position' | 'status' | 'error' | 'processed' | 'changed' | 'unchanged'> &
  Pick<OperationRow, 'failed' | 'undone' | 'conflicts' | 'stored_bytes' | 'finished_at' | 'attempts'>

export async function updateProgress(
  db: Db,
  workspaceId: string,
  number: bigint,
  progress: Partial<Progress>,
): Promise<void> {
  const set = Object.entries(progress).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  await sql`UPDATE bulk_operations SET ${sql.join([...set, sql`touched_at = now()`])}
    WHERE workspace_id = ${workspaceId} AND number = ${number}`.execute(db)
}

/** Counts a failed attempt of the operation; false when it had its last one. */
export async function countAttempt(db: Db, workspaceId: string, number: bigint, most: number): Promise<boolean> {
  const result = await sql<{ attempts: number }>`UPDATE bulk_operations
    SET attempts = attempts + 1, touched_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ${number} RETURNING attempts`.execute(db)
  return (result.rows[0]?.attempts ?? most) < most
}

/** Deletes former values of an operation that ended before a time, up to `count` links. Returns whether there were any. */
export async function expireLinks(db: AllWorkspacesDb, before: Date, count: number): Promise<boolean> {
  const found = await sql<{ number: bigint }>`SELECT number FROM bulk_operations
    WHERE finished_at < ${before} AND finished_at IS NOT NULL AND expired_at IS NULL
    ORDER BY finished_at LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(db)
  const number = found.rows[0]?.number
  if (number === undefined) return false
  const removed = await sql`DELETE FROM bulk_operation_links WHERE operation_number = ${number} AND link_number IN (
    SELECT link_number FROM bulk_operation_links WHERE operation_number = ${number} LIMIT ${count})`.execute(db)
  if (Number(removed.numAffectedRows ?? 0) < count)
    await sql`UPDATE bulk_operations SET expired_at = now(), sealed_password = NULL WHERE number = ${number}`.execute(
      db,
    )
  return true
}

/** Bytes of a link's row besides its values. */
const rowBytes = 100
const storedSize = sql`stored_bytes + total::bigint * ${sql.lit(rowBytes)}`

/** Bytes that the links of a workspace's operations take, about. */
export async function sumStored(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ bytes: string | null }>`SELECT sum(${storedSize}) AS bytes FROM bulk_operations
    WHERE workspace_id = ${workspaceId} AND expired_at IS NULL`.execute(db)
  return Number(result.rows[0]?.bytes ?? 0)
}

/** Deletes the former values of the oldest operation of a workspace that has ended. Returns the bytes; undefined without one. */
export async function expireOldest(db: Db, workspaceId: string): Promise<number | undefined> {
  const found = await sql<{ number: bigint; bytes: string }>`SELECT number, ${storedSize} AS bytes FROM bulk_operations
    WHERE workspace_id = ${workspaceId} AND finished_at IS NOT NULL AND expired_at IS NULL
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(db)
  const oldest = found.rows[0]
  if (!oldest) return undefined
  await sql`DELETE FROM bulk_operation_links
    WHERE workspace_id = ${workspaceId} AND operation_number = ${oldest.number}`.execute(db)
  await sql`UPDATE bulk_operations SET expired_at = now(), sealed_password = NULL
    WHERE workspace_id = ${workspaceId} AND number = ${oldest.number}`.execute(db)
  return Number(oldest.bytes)
}

/** Deletes operations that were created before a time and have expired, up to `count`. Returns how many. */
export async function deleteOperations(db: AllWorkspacesDb, before: Date, count: number): Promise<number> {
  const result = await sql`DELETE FROM bulk_operations WHERE number IN (SELECT number FROM bulk_operations
    WHERE created_at < ${before} AND expired_at IS NOT NULL ORDER BY created_at LIMIT ${count})`.execute(db)
  return Number(result.numAffectedRows ?? 0)
}
