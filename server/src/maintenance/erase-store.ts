import { sql } from 'kysely'
import { type ClickHouse, query } from '../platform/clickhouse.ts'
import type { AllWorkspacesDb, Db } from '../platform/postgres.ts'

// Tables are listed from the system catalogs of PostgreSQL and ClickHouse, so that no new table is forgotten.

/** A table with rows of a workspace: by its own column, or by a reference to a table that has the column. */
export type ErasableTable = { name: string; column: string; parent: string | null; parent_column: string | null }

/**
 * Tables that refer to others come first. A comment such as `references links (number)` on a column stands for a foreign
 * key that would slow down inserts.
 */
export async function selectErasableTables(db: AllWorkspacesDb): Promise<ErasableTable[]> {
  const result = await sql<ErasableTable & { references: string[] }>`
    WITH tables AS (
      SELECT c.oid, c.relname::text AS name, EXISTS (SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attname = 'workspace_id' AND NOT a.attisdropped) AS is_own
      FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'),
    keys AS (SELECT k.conrelid AS child, k.confrelid AS parent, k.conkey, k.confkey FROM pg_constraint k
      WHERE k.contype = 'f' AND k.conrelid <> k.confrelid)
    SELECT t.name, 'workspace_id' AS column, NULL AS parent, NULL AS parent_column,
      array(SELECT DISTINCT p.relname::text FROM keys JOIN pg_class p ON p.oid = keys.parent
        WHERE keys.child = t.oid) AS references
    FROM tables t WHERE t.is_own
    UNION ALL
    SELECT t.name, a.attname::text, p.name, b.attname::text, ARRAY[p.name]
    FROM tables t JOIN keys ON keys.child = t.oid AND cardinality(keys.conkey) = 1
      JOIN tables p ON p.oid = keys.parent AND p.is_own
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = keys.conkey[1]
      JOIN pg_attribute b ON b.attrelid = p.oid AND b.attnum = keys.confkey[1]
    WHERE NOT t.is_own
    UNION ALL
    SELECT t.name, a.attname::text, parent[1], parent[2], ARRAY[parent[1]]
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0
      CROSS JOIN LATERAL regexp_match(col_description(t.oid, a.attnum), '^references (\\w+) \\((\\w+)\\)$') AS parent
    WHERE NOT t.is_own AND parent IS NOT NULL
    ORDER BY 1`.execute(db)
  return sortByReferences(result.rows)
}

/** Sorts tables so that each comes before those that it refers to; a circle of references keeps its order. */
function sortByReferences<T extends { name: string; references: string[] }>(tables: T[]): T[] {
  const sorted: T[] = []
  let left = tables
  while (left.length > 0) {
    const referred = new Set(left.flatMap(({ name, references }) => references.filter((other) => other !== name)))
    const free = left.filter(({ name }) => !referred.has(name))
    const next = free.length > 0 ? free : left
    sorted.push(...next)
    left = left.filter((table) => !next.includes(table))
  }
  return sorted
}

/** Deletes some rows of a workspace. Returns their number. */
export async function deleteSome(db: Db, workspaceId: string, table: ErasableTable, count: number): Promise<number> {
  const name = sql.table(table.name)
  const column = sql.ref(table.column)
  const rows =
    table.parent === null
      ? sql`SELECT ctid FROM ${name} WHERE workspace_id = ${workspaceId} LIMIT ${count}`
      : sql`SELECT child.ctid FROM ${name} child JOIN ${sql.table(table.parent)} parent
          ON child.${column} = parent.${sql.ref(table.parent_column ?? '')}
        WHERE parent.workspace_id = ${workspaceId} LIMIT ${count}`
  const result = await sql`DELETE FROM ${name} WHERE ctid = ANY (ARRAY (${rows}))`.execute(db)
  return Number(result.numAffectedRows ?? 0)
}

/** Lets this transaction delete entries of the audit log, which otherwise only its retention may. */
export async function allowAuditErasure(db: Db): Promise<void> {
  await sql`SELECT set_config('tributary.audit_retention', 'on', true)`.execute(db)
}

/** Tables with events of workspaces; those that only distribute to others are left out. */
export async function selectEventTables(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await query<{ table: string }>(
    clickhouse,
    `SELECT DISTINCT c.table AS table FROM system.columns c
JOIN system.tables t ON t.database = c.database AND t.name = c.table
WHERE c.database = currentDatabase() AND c.name = 'workspace_id' AND t.engine LIKE '%MergeTree' ORDER BY table`,
    {},
  )
  return rows.map(({ table }) => table)
}

/** Starts deleting a workspace's rows, unless it is being done. Returns whether there are rows. */
export async function deleteEvents(
  clickhouse: ClickHouse,
  workspaceId: string,
  table: string,
  cluster: string | undefined,
): Promise<boolean> {
  const values = { workspaceId, table }
  const [row] = await query(
    clickhouse,
    `SELECT 1 FROM ${table} WHERE workspace_id = {workspaceId:String} LIMIT 1`,
    values,
  )
  const [running] = await query(
    clickhouse,
    `SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND table = {table:String}
  AND NOT is_done AND position(command, {workspaceId:String}) > 0 LIMIT 1`,
    values,
  )
  if (running) return true
  if (!row) return false
  await clickhouse.command({
    query: `ALTER TABLE ${table}${cluster ? ` ON CLUSTER '${cluster}'` : ''} DELETE WHERE workspace_id = {workspaceId:String}`,
    query_params: { workspaceId },
    clickhouse_settings: { mutations_sync: '0' },
  })
  return true
}
