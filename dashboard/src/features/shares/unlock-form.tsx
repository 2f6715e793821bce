import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { hasStatus, unlockPage } from './visit.ts'

/** Asks for the password of the page, which the server checks. */
export function UnlockForm({ onUnlocked }: { onUnlocked(): void }) {
  const { t } = useLingui()
  const [password, setPassword] = useState('')
  const { mutate, error, isPending } = useMutation({ mutationFn: unlockPage, onSuccess: onUnlocked })
  const problem = hasStatus(error, 401)
    ? t`This is not the password.`
    : hasStatus(error, 429)
      ? t`Too many attempts. Try again in a few minutes.`
      : error?.message
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (password && !isPending) mutate(password)
  }
  return (
    <main className="mx-auto max-w-90 px-4 pt-[14vh]">
      <h1 className="mb-1">
        <Trans>Shared statistics</Trans>
      </h1>
      <p className="mb-5 text-muted">
        <Trans>This page has a password. The person who sent you the address knows it.</Trans>
      </p>
      <form noValidate onSubmit={submit} className="flex flex-col gap-4">
        <Field label={<Trans>Password</Trans>} error={problem}>
          <TextInput
            type="password"
            autoFocus
            autoComplete="off"
            maxLength={200}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
        <Button type="submit" kind="first" disabled={!password || isPending}>
          <Trans>Show statistics</Trans>
        </Button>
      </form>
    </main>
  )
}
