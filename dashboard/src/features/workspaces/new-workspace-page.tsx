import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { call } from '../../app/call.ts'
import { workspacesQuery } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { isSlug, suggestSlug } from './slug.ts'

const route = getRouteApi('/new')

/** Creates a workspace. A person without any comes here first. */
export function NewWorkspacePage() {
  const { t } = useLingui()
  const { workspaces } = route.useRouteContext()
  const isFirst = workspaces.length === 0
  useEffect(() => {
    document.title = `${t`Create a workspace`} · Tributary`
  }, [t])
  return (
    <main className="mx-auto flex max-w-110 flex-col gap-4 px-4 pt-[10vh] pb-10">
      <h1>
        <Trans>Create a workspace</Trans>
      </h1>
      <p className="text-muted">
        <Trans>A workspace has your links, domains, figures and colleagues. You become its owner.</Trans>
      </p>
      {isFirst && (
        <p className="text-muted">
          <Trans>Do your colleagues have one already? Ask them for an invite, and open the link in it.</Trans>
        </p>
      )}
      <WorkspaceForm />
      <p className="flex gap-4 text-sm">
        {!isFirst && (
          <Link to="/" className="text-muted underline hover:text-ink">
            <Trans>Back to your workspaces</Trans>
          </Link>
        )}
        <a href="/account" className="text-muted underline hover:text-ink">
          <Trans>Your account</Trans>
        </a>
      </p>
    </main>
  )
}

function WorkspaceForm() {
  const { t } = useLingui()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [typedSlug, setTypedSlug] = useState<string>()
  const [isChecked, setChecked] = useState(false)
  const slug = typedSlug ?? suggestSlug(name)
  const create = useMutation({
    mutationFn: () => call('createWorkspace', { body: { name: name.trim(), slug } }),
    onSuccess: async (created) => {
      client.setQueryData(workspacesQuery.queryKey, (before = []) => [...before, created])
      await navigate({ to: '/$workspace', params: { workspace: created.slug } })
    },
  })
  const nameError = name.trim() === '' ? t`Enter a name.` : undefined
  const slugError = isSlug(slug) ? undefined : t`Use 3 to 48 lower-case letters, digits and dashes.`
  const failure = create.error?.message ?? ''
  const isAboutSlug = /slug/i.test(failure)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    if (!nameError && !slugError && !create.isPending) create.mutate()
  }
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-4 rounded-lg border bg-surface p-5">
      {failure && !isAboutSlug && (
        <p role="alert" className="rounded-md border border-harm px-3 py-2 text-sm text-harm wrap-anywhere">
          {failure}
        </p>
      )}
      <Field label={<Trans>Name</Trans>} error={isChecked && nameError}>
        <TextInput
          autoFocus
          value={name}
          maxLength={64}
          placeholder={t`Acme`}
          autoComplete="organization"
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field
        label={<Trans>Slug</Trans>}
        error={(isAboutSlug && failure) || ((isChecked || typedSlug !== undefined) && slugError)}
        hint={
          <Trans>
            Its address: <bdi>{`${location.origin}/app/${slug || '…'}`}</bdi>
          </Trans>
        }
      >
        <TextInput
          value={slug}
          maxLength={48}
          autoCapitalize="off"
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            create.reset()
            setTypedSlug(event.target.value)
          }}
        />
      </Field>
      <Button kind="first" type="submit" disabled={create.isPending} className="self-start">
        <Trans>Create workspace</Trans>
      </Button>
    </form>
  )
}
