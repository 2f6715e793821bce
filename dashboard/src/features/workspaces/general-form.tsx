import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { FigureFields, type GeneralFieldsProps, IdentityFields, TrackingFields } from './general-fields.tsx'
import { useSaveWorkspace } from './save-workspace.ts'
import { findChanged, type Workspace, type WorkspaceValues, workspaceValues } from './workspace-values.ts'

/** The settings as one form; nothing is saved before its button is pressed. */
export function GeneralForm({ workspace, isReadOnly }: { workspace: Workspace; isReadOnly: boolean }) {
  const { t } = useLingui()
  const [before, setBefore] = useState(() => workspaceValues(workspace))
  const [values, setValues] = useState(before)
  const [errors, setErrors] = useState<GeneralFieldsProps['errors']>({})
  const { save, isSaving, failure, conflict } = useSaveWorkspace(before)
  const form = useRef<HTMLFormElement>(null)
  const count = findChanged(before, values).length
  useEffect(() => {
    if (Object.values(errors).some(Boolean)) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [errors])
  const set = (changed: Partial<WorkspaceValues>) => {
    setValues((values) => ({ ...values, ...changed }))
    setErrors({})
  }
  const load = (current: WorkspaceValues) => {
    setBefore(current)
    setValues(current)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isSaving || count === 0) return
    const { saved, errors: found } = await save(values)
    setErrors(found ?? {})
    if (!saved) return
    load(workspaceValues(saved))
    toast({ title: t`Saved the settings` })
  }
  const shared: GeneralFieldsProps = { values, set, errors, isReadOnly }
  return (
    <form ref={form} noValidate onSubmit={(event) => void submit(event)} className="flex max-w-180 flex-col gap-4">
      {conflict && (
        <Notice
          action={
            <Button size="small" onClick={() => load(conflict)}>
              <Trans>Load again</Trans>
            </Button>
          }
        >
          <Trans>
            Somebody changed these settings while you edited them. Load them again to see the change; yours is not
            saved.
          </Trans>
        </Notice>
      )}
      {failure && <Notice>{failure}</Notice>}
      <Panel className="grid gap-4 p-4 md:grid-cols-2">
        <IdentityFields {...shared} />
      </Panel>
      <Panel className="grid gap-4 p-4 md:grid-cols-2">
        <FigureFields {...shared} />
      </Panel>
      <Panel className="grid gap-4 p-4 md:grid-cols-2">
        <TrackingFields {...shared} />
      </Panel>
      {!isReadOnly && (
        <div className="flex gap-2">
          <Button kind="first" type="submit" disabled={count === 0 || isSaving}>
            <Trans>Save settings</Trans>
          </Button>
          {count > 0 && (
            <Button kind="quiet" onClick={() => setValues(before)}>
              <Trans>Discard changes</Trans>
            </Button>
          )}
        </div>
      )}
    </form>
  )
}
