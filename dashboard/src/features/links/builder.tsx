import { Trans, useLingui } from '@lingui/react/macro'
import { ApiError } from '@tributary/contract/client'
import type { QrDesign } from '@tributary/contract/qr-designs'
import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { fieldMessage } from '../../app/field-errors.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { toast } from '../../ui/toast.tsx'
import { AddressFields, CommentField, DestinationField, FolderField, TagsField } from './builder-fields.tsx'
import { BuilderQr } from './builder-qr.tsx'
import { Sections } from './builder-sections.tsx'
import { type BuilderStart, closeBuilder, openBuilder } from './builder-state.ts'
import {
  type BuilderForm,
  type BuilderValues,
  blankValues,
  errorField,
  linkValues,
  readDraft,
  storeDraft,
} from './builder-values.ts'
import { useSaveLink } from './save-link.ts'
import { shortAddress } from './texts.ts'

/** The form for a new link or a changed one. */
export function Builder({ start }: { start: BuilderStart }) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const { edit } = start
  const [values, setValues] = useState(() => initialValues(start, slug))
  const [errors, setErrors] = useState<BuilderForm['errors']>({})
  const [failure, setFailure] = useState<string>()
  const [design, setDesign] = useState<QrDesign>()
  const { save, isSaving, reload, isConflict } = useSaveLink(edit)
  const { data: domains } = useOperation('listDomains', { query: { pageSize: 100 } }, { staleTime: 60_000 })
  const before = useMemo(() => (edit ? linkValues(edit) : blankValues), [edit])
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const [first] =
      domains?.filter(({ archived }) => !archived).sort((a, b) => Number(b.primary) - Number(a.primary)) ?? []
    if (first) setValues((values) => (values.domain ? values : { ...values, domain: first.slug }))
  }, [domains])
  const isChanged = JSON.stringify({ ...values, domain: '' }) !== JSON.stringify({ ...before, domain: '' })
  useEffect(() => {
    if (!edit) storeDraft(slug, isChanged ? values : undefined)
  }, [edit, slug, values, isChanged])
  const set = (changed: Partial<BuilderValues>) => {
    setValues((values) => ({ ...values, ...changed }))
    setErrors((errors) => ({ ...errors, ...Object.fromEntries(Object.keys(changed).map((name) => [name, undefined])) }))
  }
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    if (isSaving) return
    setFailure(undefined)
    if (values.url.trim() === '') return setErrors({ url: t`Enter the address that the link leads to.` })
    try {
      const link = await save(before, values, design)
      storeDraft(slug, undefined)
      closeBuilder()
      const isCopied = await copyText(link.shortLink)
      const title = edit ? t`Saved ${shortAddress(link)}` : t`Created ${shortAddress(link)}`
      toast({ title, detail: isCopied ? t`The address is in the clipboard.` : undefined })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const field = error instanceof ApiError ? errorField(error.message, error.status) : undefined
      if (field) setErrors({ [field]: fieldMessage(error.message) })
      else setFailure(error.message)
    }
  }
  useEffect(() => {
    if (Object.values(errors).some(Boolean)) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [errors])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void submit()
  }
  const shared: BuilderForm = { values, set, errors, isEdit: edit !== undefined }
  return (
    <Drawer
      title={edit ? <Trans>Edit {shortAddress(edit)}</Trans> : <Trans>New link</Trans>}
      onClose={closeBuilder}
      footer={
        <>
          <span role="status" className="mr-auto text-xs text-muted">
            {!edit && isChanged && <Trans>Draft saved</Trans>}
          </span>
          <Button kind="quiet" onClick={closeBuilder}>
            <Trans>Cancel</Trans>
          </Button>
          <Button kind="first" type="submit" form="builder" disabled={isSaving}>
            {edit ? <Trans>Save and copy</Trans> : <Trans>Create and copy</Trans>}
            <Kbd>{/Mac/.test(navigator.platform) ? '⌘↵' : 'Ctrl ↵'}</Kbd>
          </Button>
        </>
      }
    >
      <form
        id="builder"
        ref={form}
        noValidate
        onSubmit={(event) => void submit(event)}
        onKeyDown={onKeyDown}
        className="flex flex-col gap-4"
      >
        {isConflict && edit && <Conflict onReload={async () => openBuilder({ edit: await reload() })} />}
        {failure && !isConflict && (
          <p role="alert" className="rounded-md border border-harm px-3 py-2 text-sm text-harm wrap-anywhere">
            {failure}
          </p>
        )}
        <DestinationField {...shared} />
        <AddressFields {...shared} domains={domains ?? []} />
        <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <FolderField {...shared} />
          <TagsField {...shared} />
        </div>
        <CommentField {...shared} />
        <BuilderQr values={values} link={edit} design={design} onDesign={setDesign} />
        <Sections {...shared} />
      </form>
    </Drawer>
  )
}

function Conflict({ onReload }: { onReload(): Promise<void> }) {
  return (
    <div role="alert" className="flex items-center gap-3 rounded-md border border-harm px-3 py-2 text-sm">
      <span className="flex-1">
        <Trans>
          Somebody changed this link while you edited it. Load it again to see the change; yours is not saved.
        </Trans>
      </span>
      <Button size="small" onClick={() => void onReload()}>
        <Trans>Load again</Trans>
      </Button>
    </div>
  )
}

function initialValues({ url, edit, copy, isTracked }: BuilderStart, slug: string): BuilderValues {
  if (edit) return linkValues(edit)
  if (copy) return { ...linkValues(copy), key: '' }
  if (url) return { ...blankValues, url }
  const values = readDraft(slug) ?? blankValues
  return isTracked ? { ...values, trackConversion: true } : values
}
