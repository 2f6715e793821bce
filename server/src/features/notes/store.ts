import type { Note } from '@tributary/contract/notes'
import { sql } from 'kysely'
import { type Db, deleteById } from '../../platform/postgres.ts'

type NoteValues = Pick<Note, 'day' | 'text'>
type NewNoteRow = NoteValues & { id: string; workspace_id: string; created_by: string | null }
export type NoteRow = NewNoteRow & { created_at: Date; updated_at: Date }

export type NoteSelection = {
  from?: string
  to?: string
  sort: 'day' | 'createdAt'
  ascending: boolean
  offset: number
  count: number
}

// The day as text, because the driver reads a date as midnight in the time zone of the process.
const columns = sql`id, workspace_id, day::text AS day, text, created_by, created_at, updated_at`

export async function selectNotes(db: Db, workspaceId: string, selection: NoteSelection): Promise<NoteRow[]> {
  const { from, to, sort, ascending, offset, count } = selection
  const conditions = [sql`workspace_id = ${workspaceId}`]
  if (from !== undefined) conditions.push(sql`notes.day >= ${from}::date`)
  if (to !== undefined) conditions.push(sql`notes.day <= ${to}::date`)
  const direction = ascending ? sql`ASC` : sql`DESC`
  const order = sort === 'day' ? sql`notes.day` : sql`created_at`
  const result = await sql<NoteRow>`SELECT ${columns} FROM notes WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${order} ${direction}, id ${direction} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

/** Reads a note and locks its row until the transaction ends. */
export async function lockNote(db: Db, workspaceId: string, id: string): Promise<NoteRow | undefined> {
  const result = await sql<NoteRow>`
    SELECT ${columns} FROM notes WHERE workspace_id = ${workspaceId} AND id = ${id} FOR UPDATE`.execute(db)
  return result.rows[0]
}

export async function countNotes(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM notes WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function insertNote(db: Db, row: NewNoteRow): Promise<NoteRow> {
  const result = await sql<NoteRow>`INSERT INTO notes (id, workspace_id, day, text, created_by)
    VALUES (${row.id}, ${row.workspace_id}, ${row.day}::date, ${row.text}, ${row.created_by})
    RETURNING ${columns}`.execute(db)
  return result.rows[0] as NoteRow
}

/** Updates a note that the transaction has locked. */
export async function updateNoteRow(
  db: Db,
  workspaceId: string,
  id: string,
  { day, text }: NoteValues,
): Promise<NoteRow> {
  const result = await sql<NoteRow>`UPDATE notes SET day = ${day}::date, text = ${text}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id} RETURNING ${columns}`.execute(db)
  return result.rows[0] as NoteRow
}

export function deleteNoteRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'notes', workspaceId, id)
}
