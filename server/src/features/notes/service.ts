import type { NewNote, Note, NotePatch, NotesQuery } from '@tributary/contract/notes'
import { type Ctx, findUserId } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireRoom } from '../workspaces/service.ts'
import { countNotes, deleteNoteRow, insertNote, lockNote, type NoteRow, selectNotes, updateNoteRow } from './store.ts'

export async function listNotes(ctx: Ctx, query: NotesQuery): Promise<Note[]> {
  const rows = await selectNotes(ctx.db, ctx.workspaceId, {
    ...{ from: query.from, to: query.to, sort: query.sortBy, ascending: query.sortOrder === 'asc' },
    ...{ offset: (query.page - 1) * query.pageSize, count: query.pageSize },
  })
  return rows.map(present)
}

export async function createNote(ctx: Ctx, given: NewNote): Promise<Note> {
  return transaction(ctx, async (ctx) => {
    await requireRoom(ctx, 'notes', () => countNotes(ctx.db, ctx.workspaceId))
    const ids = { id: newId('note'), workspace_id: ctx.workspaceId, created_by: findUserId(ctx.actor) ?? null }
    return present(await insertNote(ctx.db, { ...ids, ...given }))
  })
}

export async function updateNote(ctx: Ctx, id: string, patch: NotePatch): Promise<Note> {
  return transaction(ctx, async (ctx) => {
    const row = await requireNote(ctx, id)
    const after = { day: patch.day ?? row.day, text: patch.text ?? row.text }
    if (after.day === row.day && after.text === row.text) return present(row)
    reportChange(ctx, { id, before: row, after })
    return present(await updateNoteRow(ctx.db, ctx.workspaceId, id, after))
  })
}

export async function deleteNote(ctx: Ctx, id: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const row = await requireNote(ctx, id)
    reportChange(ctx, { id, before: row })
    await deleteNoteRow(ctx.db, ctx.workspaceId, id)
    return { id }
  })
}

async function requireNote(ctx: Ctx, id: string): Promise<NoteRow> {
  const row = await lockNote(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('note', id)
  return row
}

function present(row: NoteRow): Note {
  const { id, day, text } = row
  return {
    ...{ id, day, text, userId: row.created_by },
    ...{ createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() },
  }
}
