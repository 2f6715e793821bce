import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { call } from '../../app/call.ts'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import type { View, ViewQuery } from './view-query.ts'

type Props = { view: View; query: ViewQuery; isChanged: boolean; onLeave(): void }

/** What can be done with the view that is open. */
export function OpenView({ view, query, isChanged, onLeave }: Props) {
  const { t } = useLingui()
  const [isNaming, setNaming] = useState(false)
  const { mutateAsync, error } = useChange('updateView', ['listViews'])
  const params = { id: view.id }
  const remove = useRemoveView()
  const update = async () => {
    await mutateAsync({ params, body: { query } })
    const undo = () => mutateAsync({ params, body: { query: view.query } })
    toast({ title: t`Updated “${view.name}”`, undo })
  }
  const rename = async (name: string) => {
    await mutateAsync({ params, body: { name } })
    setNaming(false)
  }
  if (isNaming)
    return <NameForm view={view} error={error?.message} onSave={(name) => void rename(name).catch(() => {})} />
  return (
    <>
      {isChanged && (
        <Action onClick={() => void update().catch(() => {})}>
          <Trans>Update “{view.name}”</Trans>
        </Action>
      )}
      <Action onClick={() => setNaming(true)}>
        <Trans>Rename “{view.name}”</Trans>
      </Action>
      <Action
        className="text-harm"
        onClick={() => {
          onLeave()
          void remove(view)
        }}
      >
        <Trans>Delete “{view.name}”</Trans>
      </Action>
      {error && (
        <p role="alert" className="px-2 py-1 text-xs text-harm wrap-anywhere">
          {error.message}
        </p>
      )}
    </>
  )
}

/** Deletes a view; undo saves it again. */
function useRemoveView() {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work()
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: [slug, 'listViews'] })
    }
  }
  return async ({ id, screen, name, query, visibility }: View) => {
    const isDone = await attempt(() => call('deleteView', { params: { id } }, slug))
    const undo = () => attempt(() => call('createView', { body: { screen, name, query, visibility } }, slug))
    if (isDone) toast({ title: t`Deleted “${name}”`, undo })
  }
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
