import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { DomainFields } from './domain-fields.tsx'
import { blankValues, type DomainField, type DomainValues, domainValues } from './domain-values.ts'
import type { Domain } from './queries.ts'
import { useSaveDomain } from './save-domain.ts'

type DomainErrors = Partial<Record<DomainField, string>>

/** The form for a new domain or a changed one. */
export function DomainDrawer({ domain, onClose }: { domain?: Domain; onClose(): void }) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(domain)
  const [values, setValues] = useState(() => (domain ? domainValues(domain) : blankValues))
  const [errors, setErrors] = useState<DomainErrors>({})
  const { save, isSaving, failure, conflict, rootUrl } = useSaveDomain(opened)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (rootUrl !== undefined) setValues((values) => ({ ...values, rootUrl }))
  }, [rootUrl])
  useEffect(() => {
    if (Object.values(errors).some(Boolean)) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [errors])
  const set = (changed: Partial<DomainValues>) => {
    setValues((values) => ({ ...values, ...changed }))
    setErrors((errors) => ({ ...errors, ...Object.fromEntries(Object.keys(changed).map((name) => [name, undefined])) }))
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isSaving) return
    if (values.slug.trim() === '') return setErrors({ slug: t`Enter the name of the domain, such as go.example.com.` })
    const { saved, errors: found } = await save(values)
    if (found) setErrors(found)
    if (!saved) return
    toast({ title: domain ? t`Saved ${saved}` : t`Added ${saved}` })
    onClose()
    if (saved !== domain?.slug)
      void navigate({ from: '/$workspace', to: '/$workspace/domains/$slug', params: { slug: saved } })
  }
  const loadAgain = (current: Domain) => {
    setOpened(current)
    setValues({ ...domainValues(current), rootUrl: values.rootUrl })
  }
  return (
    <Drawer
      title={domain ? <Trans>Edit {domain.slug}</Trans> : <Trans>Add domain</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button kind="quiet" className="ml-auto" onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button kind="first" type="submit" form="domain" disabled={isSaving}>
            {domain ? <Trans>Save domain</Trans> : <Trans>Add domain</Trans>}
          </Button>
        </>
      }
    >
      <form id="domain" ref={form} noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        {conflict && (
          <Notice
            action={
              <Button size="small" onClick={() => loadAgain(conflict)}>
                <Trans>Load again</Trans>
              </Button>
            }
          >
            <Trans>
              Somebody changed this domain while you edited it. Load it again to see the change; yours is not saved.
            </Trans>
          </Notice>
        )}
        {failure && <Notice>{failure}</Notice>}
        <DomainFields
          values={values}
          set={set}
          errors={errors}
          isEdit={domain !== undefined}
          before={opened?.slug ?? ''}
        />
      </form>
    </Drawer>
  )
}
