import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'
import { label } from './tags.ts'

const day = z.iso.date().refine((day) => day >= '1970-01-01', 'it is before 1970-01-01')

export const note = z
  .strictObject({
    id: z.string(),
    day: z.string().describe('The day, as YYYY-MM-DD.'),
    text: z.string(),
    userId: z.string().nullable().describe('The user who created the note; null for a key or a former user.'),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Note' })
export type Note = z.infer<typeof note>

const noteDay = day.describe("The day, as YYYY-MM-DD, in the workspace's time zone.")
const text = label(200).describe('What happened on the day, as plain text in one line.')

export const newNote = z.object({ day: noteDay, text }).meta({ id: 'NewNote' })
export type NewNote = z.infer<typeof newNote>

export const notePatch = z.object({ day: noteDay.optional(), text: text.optional() }).meta({ id: 'NotePatch' })
export type NotePatch = z.infer<typeof notePatch>

const params = z.object({ id: z.string().describe('Id of the note.') })

export const listNotes = operation({
  id: 'listNotes',
  method: 'get',
  path: '/notes',
  summary: 'List notes',
  tag: 'Notes',
  scope: 'analytics.read',
  query: z.object({
    from: day.optional().describe('Only notes on this day or later, as YYYY-MM-DD.'),
    to: day.optional().describe('Only notes on this day or earlier, as YYYY-MM-DD.'),
    ...listing(100, ['day', 'createdAt'], 'desc'),
  }),
  response: z.array(note),
})
export type NotesQuery = z.output<typeof listNotes.query>

export const createNote = operation({
  id: 'createNote',
  method: 'post',
  path: '/notes',
  summary: 'Create a note',
  description:
    'Notes what happened on a day, such as a campaign or an outage. Charts of the dashboard show it to every member.',
  tag: 'Notes',
  scope: 'views.write',
  body: newNote,
  status: 201,
  response: note,
})

export const updateNote = operation({
  id: 'updateNote',
  method: 'patch',
  path: '/notes/{id}',
  summary: 'Update a note',
  description: 'Members change all notes of the workspace.',
  tag: 'Notes',
  scope: 'views.write',
  params,
  body: notePatch,
  response: note,
})

export const deleteNote = operation({
  id: 'deleteNote',
  method: 'delete',
  path: '/notes/{id}',
  summary: 'Delete a note',
  tag: 'Notes',
  scope: 'views.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
