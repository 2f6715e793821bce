import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { OperationAnswer } from '@tributary/contract/client'
import { type Role, roles } from '@tributary/contract/permissions'
import { type FormEvent, useRef, useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { roleNames } from '../permissions/role-names.ts'
import { Refusal } from '../settings/refusal.tsx'
import { readAddresses } from './addresses.ts'

type Result = OperationAnswer<'createInvites'>['invites'][number]
const most = 100

/** One or many addresses and their role. Addresses that were refused stay in the field. */
export function InviteForm() {
  const { t } = useLingui()
  const { role: own } = useWorkspace()
  const [text, setText] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [problem, setProblem] = useState<string>()
  const [refused, setRefused] = useState<readonly Result[]>([])
  const field = useRef<HTMLTextAreaElement>(null)
  const invite = useChange('createInvites', ['listInvites'])
  const addresses = readAddresses(text)
  const offered = roles.filter((one) => one !== 'owner' || own === 'owner')
  const finish = ({ invites }: { invites: Result[] }) => {
    const failed = invites.filter(({ error }) => error)
    const count = invites.length - failed.length
    setRefused(failed)
    setText(failed.map(({ email }) => email).join('\n'))
    if (count > 0) toast({ title: t`Invites sent: ${count}` })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setRefused([])
    const isFew = addresses.length > 0 && addresses.length <= most
    setProblem(isFew ? undefined : t`Enter 1 to ${most} e-mail addresses.`)
    if (!isFew) return field.current?.focus()
    const invites = addresses.map((email) => ({ email, role }))
    const [only] = invites
    // A single refusal is that of the whole request, which `Refusal` explains.
    invite.mutate({ body: invites.length === 1 && only ? only : { invites } }, { onSuccess: finish })
  }
  return (
    <Panel className="p-4">
      <form noValidate onSubmit={submit} className="flex flex-col gap-3">
        <Refusal error={invite.error} />
        {refused.length > 0 && (
          <Notice>
            <ul>
              {refused.map(({ email, error }) => (
                <li key={email}>
                  <bdi className="font-medium">{email}</bdi>: {error?.message}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <Field
          label={<Trans>E-mail addresses</Trans>}
          error={problem}
          hint={<Trans>Separate several addresses with commas, spaces or lines.</Trans>}
        >
          <TextArea
            ref={field}
            rows={2}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="ada@example.com, grace@example.com"
            value={text}
            maxLength={30_000}
            onChange={(event) => {
              setText(event.target.value)
              setProblem(undefined)
            }}
          />
        </Field>
        <div className="flex flex-wrap items-end gap-3">
          <Field label={<Trans>Role</Trans>} className="w-32">
            <Select
              value={role}
              options={offered.map((value) => ({ value, name: t(roleNames[value]) }))}
              onChoose={(value) => setRole(value as Role)}
            />
          </Field>
          <Button kind="first" type="submit" disabled={invite.isPending} className="ml-auto">
            {addresses.length > 1 ? (
              <Trans>
                Invite <Plural value={addresses.length} one="# person" other="# people" />
              </Trans>
            ) : (
              <Trans>Send invite</Trans>
            )}
          </Button>
        </div>
      </form>
    </Panel>
  )
}
