import * as contract from '@tributary/contract/notes'
import { route } from '../../platform/http.ts'
import { createNote, deleteNote, listNotes, updateNote } from './service.ts'

export const notesRoutes = [
  route(contract.listNotes, (ctx, { query }) => listNotes(ctx, query)),
  route(contract.createNote, (ctx, { body }) => createNote(ctx, body)),
  route(contract.updateNote, (ctx, { params, body }) => updateNote(ctx, params.id, body)),
  route(contract.deleteNote, (ctx, { params }) => deleteNote(ctx, params.id)),
]
