import { Trans, useLingui } from '@lingui/react/macro'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatDay } from '../../ui/format.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { type Note, useNotes } from './queries.ts'

const readAgain = ['listNotes'] as const

/** The notes on a day, for everybody in the workspace, and a form for another one. */
export function NotesDialog({ day, onClose }: { day: string; onClose(): void }) {
  const { can } = useWorkspace()
  const locale = useLocale()
  const notes = useNotes({ from: day, to: day })
  const name = formatDay(day, locale, 'UTC')
  const canWrite = can('views.write')
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent title={<Trans>Notes on {name}</Trans>}>
        {notes.length > 0 && (
          <ul className="mb-4">
            {notes.map((note) => (
              <NoteRow key={note.id} note={note} canWrite={canWrite} />
            ))}
          </ul>
        )}
        {notes.length === 0 && !canWrite && (
          <p className="text-muted">
            <Trans>Nobody has noted anything on this day.</Trans>
          </p>
        )}
        {canWrite && <NoteForm day={day} onDone={onClose} />}
      </DialogContent>
    </Dialog>
  )
}

function NoteForm({ day, onDone }: { day: string; onDone(): void }) {
  const [text, setText] = useState('')
  const { mutateAsync, error, isPending } = useChange('createNote', readAgain)
  const save = async () => {
    await mutateAsync({ body: { day, text: text.trim() } })
    onDone()
  }
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) void save().catch(() => {})
      }}
    >
      <Field label={<Trans>What happened on this day</Trans>} error={error?.message}>
        <TextInput
          autoFocus
          dir="auto"
          autoComplete="off"
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <Button type="submit" kind="first" className="self-end" disabled={!text.trim() || isPending}>
        <Trans>Add note</Trans>
      </Button>
    </form>
  )
}

function NoteRow({ note, canWrite }: { note: Note; canWrite: boolean }) {
  const { t } = useLingui()
  const { mutateAsync: remove } = useChange('deleteNote', readAgain)
  const { mutateAsync: create } = useChange('createNote', readAgain)
  const { id, day, text } = note
  const deleteNote = async () => {
    try {
      await remove({ params: { id } })
      toast({ title: t`Deleted the note`, undo: () => create({ body: { day, text } }).catch(toastError) })
    } catch (error) {
      toastError(error)
    }
  }
  return (
    <li className="flex min-h-9 items-center gap-2 border-b">
      <span dir="auto" className="min-w-0 flex-1 py-1 wrap-anywhere">
        {text}
      </span>
      {canWrite && (
        <Button kind="quiet" size="icon" aria-label={t`Delete note: ${text}`} onClick={() => void deleteNote()}>
          <Trash2 size={14} strokeWidth={1.75} aria-hidden />
        </Button>
      )}
    </li>
  )
}
