import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import type { Screen, View, ViewQuery } from './view-query.ts'

type Props = { screen: Screen; query: ViewQuery; onSaved(view: View): void; onCancel(): void }

/** Saves what the screen shows under a name. */
export function SaveView({ screen, query, onSaved, onCancel }: Props) {
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const { mutateAsync, error, isPending } = useChange('createView', ['listViews'])
  const save = async () => {
    const visibility = isShared ? 'shared' : 'personal'
    onSaved(await mutateAsync({ body: { screen, name: name.trim(), query, visibility } }))
  }
  return (
    <form
      className="flex flex-col gap-2.5 p-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim()) void save().catch(() => {})
      }}
    >
      <Field label={<Trans>Name of the view</Trans>} error={error?.message}>
        <TextInput autoFocus value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </Field>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is inside */}
      <label className="flex min-h-6 items-center gap-2.5 text-sm max-md:min-h-11">
        <Checkbox checked={isShared} onCheckedChange={setShared} />
        <Trans>Share it with the workspace</Trans>
      </label>
      <div className="flex justify-end gap-2">
        <Button kind="quiet" onClick={onCancel}>
          <Trans>Cancel</Trans>
        </Button>
        <Button type="submit" kind="first" disabled={!name.trim() || isPending}>
          <Trans>Save view</Trans>
        </Button>
      </div>
    </form>
  )
}
