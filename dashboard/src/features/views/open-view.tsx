import { Trans } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { DeleteSharedView, useDeleteView } from './delete-view.tsx'
import { useUpdateView } from './update-view.ts'
import type { View, ViewQuery } from './view-query.ts'

type Props = { view: View; query: ViewQuery; isChanged: boolean; onLeave(): void }

/** What can be done with the view that is open. */
export function OpenView({ view, query, isChanged, onLeave }: Props) {
  const [isNaming, setNaming] = useState(false)
  const naming = useChange('updateView', ['listViews'])
  const { update, error } = useUpdateView(view, query)
  const deletion = useDeleteView(view, onLeave)
  const rename = async (name: string) => {
    await naming.mutateAsync({ params: { id: view.id }, body: { name } })
    setNaming(false)
  }
  if (isNaming)
    return <NameForm view={view} error={naming.error?.message} onSave={(name) => void rename(name).catch(() => {})} />
  return (
    <>
      {isChanged && (
        <Action onClick={update}>
          <Trans>Update “{view.name}”</Trans>
        </Action>
      )}
      <Action onClick={() => setNaming(true)}>
        <Trans>Rename “{view.name}”</Trans>
      </Action>
      <Action className="text-harm" onClick={deletion.start}>
        <Trans>Delete “{view.name}”</Trans>
      </Action>
      {error && (
        <p role="alert" className="px-2 py-1 text-xs text-harm wrap-anywhere">
          {error.message}
        </p>
      )}
      {deletion.pageCount > 0 && (
        <DeleteSharedView {...{ view, onLeave }} pageCount={deletion.pageCount} onClose={deletion.cancel} />
      )}
    </>
  )
}

type NameProps = { view: View; error: string | undefined; onSave(name: string): void }

function NameForm({ view, error, onSave }: NameProps) {
  const [name, setName] = useState(view.name)
  return (
    <form
      className="flex flex-col gap-2.5 p-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim()) onSave(name.trim())
      }}
    >
      <Field label={<Trans>Name of the view</Trans>} error={error}>
        <TextInput autoFocus value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Button type="submit" kind="first" className="self-end" disabled={!name.trim()}>
        <Trans>Save name</Trans>
      </Button>
    </form>
  )
}

type ActionProps = { className?: string; onClick(): void; children: ReactNode }

function Action({ className = '', onClick, children }: ActionProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className={`flex min-h-8 w-full items-center rounded-sm px-2 text-left text-sm hover:bg-hover focus-visible:bg-hover max-md:min-h-11 ${className}`}
    >
      <span className="truncate">{children}</span>
    </button>
  )
}
