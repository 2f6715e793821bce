import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { call } from '../../app/call.ts'
import { findErrorField } from '../../app/field-errors.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { ShownKey } from './shown-key.tsx'
import { offeredTasks, scopeAccess } from './tasks.ts'
import { type TokenFieldName, TokenFields } from './token-fields.tsx'
import { chosenScopes, newTokenBody, type Token, type TokenValues, tokenPatchBody } from './token-values.ts'

const fieldNames: TokenFieldName[] = ['name', 'scopes', 'expiresAt', 'allowedHostnames']

/** The form for a new key or a changed one. A new key is shown once. */
export function TokenDrawer({ token, onClose }: { token?: Token; onClose(): void }) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const client = useQueryClient()
  const [first] = offeredTasks(can)
  const [values, setValues] = useState<TokenValues>(() => startValues(token, first ?? 'custom'))
  const [errors, setErrors] = useState<Partial<Record<TokenFieldName, string>>>({})
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [key, setKey] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (Object.values(errors).some(Boolean)) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [errors])
  const set = (changed: Partial<TokenValues>) => {
    setValues((values) => ({ ...values, ...changed }))
    setErrors({})
  }
  const close = () => {
    onClose()
    void client.invalidateQueries({ queryKey: [slug, 'listTokens'] })
  }
  const save = async () => {
    if (!token) return setKey((await call('createToken', { body: newTokenBody(values) }, slug)).key)
    await call('updateToken', { params: { id: token.id }, body: tokenPatchBody(token, values) }, slug)
    toast({ title: t`Saved ${values.name.trim()}` })
    close()
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || key) return
    const found = findMissing(values)
    setErrors(found)
    setFailure(undefined)
    if (Object.keys(found).length > 0) return
    setBusy(true)
    try {
      await save()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const field = findErrorField(message, fieldNames)
      if (field) setErrors({ [field]: message })
      else setFailure(message)
    } finally {
      setBusy(false)
    }
  }
  function findMissing(values: TokenValues): Partial<Record<TokenFieldName, string>> {
    const hasScopes = values.kind === 'publishable' || chosenScopes(values).length > 0
    return {
      ...(values.name.trim() === '' && { name: t`Enter a name, such as the program that uses the key.` }),
      ...(!hasScopes && { scopes: t`Choose at least one area.` }),
      ...(values.expiry === 'date' && !values.day && { expiresAt: t`Choose a day.` }),
    }
  }
  return (
    <Drawer
      title={token ? <Trans>Edit {token.name}</Trans> : <Trans>Create key</Trans>}
      onClose={close}
      footer={
        key ? (
          <Button kind="first" className="ml-auto" onClick={close}>
            <Trans>I have stored the key</Trans>
          </Button>
        ) : (
          <>
            <Button kind="quiet" className="ml-auto" onClick={close}>
              <Trans>Cancel</Trans>
            </Button>
            <Button kind="first" type="submit" form="token" disabled={isBusy}>
              {token ? <Trans>Save key</Trans> : <Trans>Create key</Trans>}
            </Button>
          </>
        )
      }
    >
      {key ? (
        <ShownKey value={key} />
      ) : (
        <form id="token" ref={form} noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
          {failure && <Notice>{failure}</Notice>}
          <TokenFields values={values} set={set} errors={errors} token={token} />
        </form>
      )}
    </Drawer>
  )
}

function startValues(token: Token | undefined, task: TokenValues['task']): TokenValues {
  const blank = { name: '', kind: 'personal', task, expiry: '90', day: '', hostnames: '' } as const
  if (!token) return { ...blank, access: scopeAccess([]) }
  const { name, kind, scopes, allowedHostnames, expiresAt } = token
  return {
    ...blank,
    ...{ name, kind, task: 'custom', access: scopeAccess(scopes), expiry: 'unchanged' },
    day: expiresAt?.slice(0, 10) ?? '',
    hostnames: allowedHostnames?.join('\n') ?? '',
  }
}
