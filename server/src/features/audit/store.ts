import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

/** A new entry as JSON: PostgreSQL reads it as a row of the table. */
export type NewEntry = {
  workspace_id: string
  at: string
  actor_kind: string
  actor_id: string
  credential: string | null
  operation: string
  target_kind: string
  target_ids: string[]
  request_id: string | null
  sealed_network: string | null
  person: string | null
  changes: object
}
export type EntryRow = Omit<NewEntry, 'at' | 'sealed_network' | 'changes'> & {
  at: Date
  sealed_network: Buffer | null
  changes: unknown
  sequence: bigint
  hash: Buffer
}

const columns = [
  ...([
    'workspace_id',
    'at',
    'actor_kind',
    'actor_id',
    'credential',
    'operation',
    'target_kind',
    'target_ids',
  ] as const),
  ...(['request_id', 'sealed_network', 'person', 'changes'] as const),
]
const columnsFragment = columns.join(', ')
const givenFragment = columns.map((column) => `entry.${column}`).join(', ')

/** The SQL that inserts entries: `from` is a FROM clause, and `entry` its JSON column with a new entry or null. */
export function insertEntryFragment({ from, entry }: Record<'from' | 'entry', string>): string {
  return `INSERT INTO audit_entries (${columnsFragment}) SELECT ${givenFragment}
    FROM ${from} CROSS JOIN LATERAL jsonb_populate_record(NULL::audit_entries, ${entry}) AS entry
    WHERE ${entry} IS NOT NULL`
}

export async function insertEntries(db: AllWorkspacesDb, entries: NewEntry[]): Promise<void> {
  await sql`INSERT INTO audit_entries (${sql.raw(columnsFragment)}) SELECT ${sql.raw(columnsFragment)}
    FROM jsonb_populate_recordset(NULL::audit_entries, ${JSON.stringify(entries)}::jsonb)`.execute(db)
}

export type EntryFilter = {
  actorId?: string
  operation?: string
  targetId?: string
  from?: Date
  until?: Date
  /** Only entries from this sequence on. */
  fromSequence?: bigint
}
export type EntryPage = { ascending: boolean; after?: bigint; offset?: number; count: number }

/** Reads sealed entries of a workspace by sequence. */
export async function selectEntries(
  db: Db,
  workspaceId: string,
  { actorId, operation, targetId, from, until, fromSequence }: EntryFilter,
  { ascending, after, offset = 0, count }: EntryPage,
): Promise<EntryRow[]> {
  const conditions = [
    sql`workspace_id = ${workspaceId} AND hash IS NOT NULL`,
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    ...(operation === undefined ? [] : [sql`operation = ${operation}`]),
    ...(targetId === undefined ? [] : [sql`target_ids @> ARRAY[${targetId}]::text[]`]),
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(until === undefined ? [] : [sql`at < ${until}`]),
    ...(fromSequence === undefined ? [] : [sql`sequence >= ${fromSequence}`]),
    ...(after === undefined ? [] : [ascending ? sql`sequence > ${after}` : sql`sequence < ${after}`]),
  ]
  const result = await sql<EntryRow>`SELECT ${sql.raw(columnsFragment)}, sequence, hash FROM audit_entries
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY sequence ${sql.raw(ascending ? 'ASC' : 'DESC')} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

/** The last entry that may have changed a field of an object from one of these values. */
export async function selectLastChangeFrom(
  db: Db,
  workspaceId: string,
  targetId: string,
  { field, values }: { field: string; values: string[] },
): Promise<bigint | undefined> {
  const result = await sql<{ sequence: bigint }>`SELECT sequence FROM audit_entries
    WHERE workspace_id = ${workspaceId} AND hash IS NOT NULL AND target_ids @> ARRAY[${targetId}]::text[]
      -- Large changes are stored without values, and changes of many objects at once without their former values.
      AND (changes = '[]' OR EXISTS (SELECT FROM jsonb_array_elements(changes) AS change
        WHERE (change ->> 'id' = ${targetId} AND (change -> 'before' ->> ${field}::text = ANY(${values}::text[])
            OR jsonb_typeof(change -> 'after' -> ${field}::text) = 'object'))
          OR (change ->> 'id' = '' AND change -> 'after' -> ${field}::text IS NOT NULL)))
    ORDER BY sequence DESC LIMIT 1`.execute(db)
  return result.rows[0]?.sequence
}

export type PersonKeyRow = { person: string; sealed_key: Buffer }

export async function selectPersonKeys(db: Db, persons: string[]): Promise<PersonKeyRow[]> {
  const result = await sql<PersonKeyRow>`SELECT person, sealed_key FROM audit_person_keys
    WHERE person = ANY(${persons}::text[])`.execute(db)
  return result.rows
}

export async function insertPersonKeys(db: Db, rows: PersonKeyRow[]): Promise<void> {
  await sql`INSERT INTO audit_person_keys (person, sealed_key)
    SELECT * FROM unnest(${rows.map(({ person }) => person)}::text[], ${rows.map(({ sealed_key }) => sealed_key)}::bytea[])
    ON CONFLICT DO NOTHING`.execute(db)
}

export async function deletePersonKeys(db: Db, persons: string[]): Promise<void> {
  await sql`DELETE FROM audit_person_keys WHERE person = ANY(${persons}::text[])`.execute(db)
}

/** Counts an event of this hour. Returns how many there were, this one included. */
export async function incrementCount(db: AllWorkspacesDb, name: string, at: Date): Promise<number> {
  const result = await sql<{ count: bigint }>`INSERT INTO audit_counts AS known (name, hour, count)
    VALUES (${name}, date_trunc('hour', ${at}::timestamptz), 1)
    ON CONFLICT (name, hour) DO UPDATE SET count = known.count + 1 RETURNING count`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Removes and returns the counts of hours that are over. */
export async function deleteCounts(
  db: AllWorkspacesDb,
  at: Date,
): Promise<{ name: string; hour: Date; count: bigint }[]> {
  const result = await sql<{ name: string; hour: Date; count: bigint }>`DELETE FROM audit_counts
    WHERE (name, hour) IN (SELECT name, hour FROM audit_counts WHERE hour < date_trunc('hour', ${at}::timestamptz)
      ORDER BY hour LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING name, hour, count`.execute(db)
  return result.rows
}

/** Stores the network of a key. False when it is known, or when the key has too many. */
export async function insertNetwork(
  db: Db,
  workspaceId: string,
  { keyId, network, most }: { keyId: string; network: Buffer; most: number },
): Promise<boolean> {
  const result = await sql`INSERT INTO audit_networks (workspace_id, key_id, network)
    SELECT ${workspaceId}, ${keyId}, ${network}
    WHERE (SELECT count(*) FROM audit_networks WHERE key_id = ${keyId}) < ${most}
    ON CONFLICT DO NOTHING RETURNING key_id`.execute(db)
  return result.rows.length > 0
}

export async function deleteNetworks(db: AllWorkspacesDb, before: Date): Promise<void> {
  await sql`DELETE FROM audit_networks WHERE seen_at < ${before}`.execute(db)
}
