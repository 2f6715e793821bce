import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useId, useState } from 'react'
import { call } from '../../app/call.ts'
import { fieldMessage } from '../../app/field-errors.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { CheckResult } from './check-result.tsx'
import { pageAddress } from './findings.ts'

type Props = {
  /** The id of the check that is shown. */
  check: string | undefined
  onCheck(id: string): void
  /** Hosts that are offered as addresses. */
  hosts: readonly string[]
}

/** Checks that a page loads the script: the server reads the page, and the page reports in when it is opened. */
export function InstallCheckPanel({ check, onCheck, hosts }: Props) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const listId = useId()
  const [address, setAddress] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const start = async (url: string) => {
    setBusy(true)
    setError(undefined)
    try {
      onCheck((await call('createInstallCheck', { body: { url } }, slug)).id)
    } catch (error) {
      setError(fieldMessage(error instanceof Error ? error.message : String(error)))
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    const url = pageAddress(address)
    if (url === '') setError(t`Enter the address of a page, such as https://example.com/pricing.`)
    else void start(url)
  }
  return (
    <div className="flex max-w-200 flex-col gap-3">
      <form noValidate onSubmit={submit} className="flex items-start gap-2 max-sm:flex-col max-sm:items-stretch">
        <Field label={<Trans>Address of a page</Trans>} error={error} className="flex-1">
          <TextInput
            inputMode="url"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="https://example.com/pricing"
            list={listId}
            maxLength={2_000}
            value={address}
            onChange={(event) => {
              setAddress(event.target.value)
              setError(undefined)
            }}
          />
          <datalist id={listId}>
            {hosts.map((host) => (
              <option key={host} value={`https://${host}/`} />
            ))}
          </datalist>
        </Field>
        <Button type="submit" kind="first" className="sm:mt-5" disabled={isBusy}>
          {isBusy ? <Trans>Reading the page …</Trans> : <Trans>Check page</Trans>}
        </Button>
      </form>
      {check && <CheckResult key={check} id={check} onRepeat={(url) => void start(url)} />}
    </div>
  )
}
