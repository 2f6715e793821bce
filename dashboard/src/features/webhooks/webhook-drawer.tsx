import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSaveWebhook } from './save-webhook.ts'
import { WebhookFields } from './webhook-fields.tsx'
import { WebhookSecret } from './webhook-secret.tsx'
import type { WebhookErrors } from './webhook-values.ts'
import { blankValues, type Webhook, type WebhookValues, webhookValues } from './webhook-values.ts'

/** The form for a new webhook or a changed one. The secret of a new one is shown once. */
export function WebhookDrawer({ webhook, onClose }: { webhook?: Webhook; onClose(): void }) {
  const { t } = useLingui()
  const [before, setBefore] = useState(webhook ? webhookValues(webhook) : blankValues)
  const [values, setValues] = useState<WebhookValues>(before)
  const [errors, setErrors] = useState<WebhookErrors>({})
  const { save, isSaving, failure, isConflict, reload, secret } = useSaveWebhook(webhook?.id)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (Object.values(errors).some(Boolean)) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [errors])
  const set = (changed: Partial<WebhookValues>) => {
    setValues((values) => ({ ...values, ...changed }))
    setErrors({})
  }
  const findMissing = (): WebhookErrors => ({
    ...(values.name.trim() === '' && { name: t`Enter a name, such as the program that receives the events.` }),
    ...(values.url.trim() === '' && { url: t`Enter the address of your receiver.` }),
    ...(values.triggers.length === 0 && { triggers: t`Choose at least one trigger.` }),
    ...(values.linkScope === 'folders' &&
      values.folderIds.length === 0 && { folderIds: t`Choose at least one folder.` }),
  })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isSaving) return
    const missing = findMissing()
    setErrors(missing)
    if (Object.keys(missing).length > 0) return
    const { isSaved, errors: found = {} } = await save(before, values)
    setErrors(found)
    if (!isSaved || !webhook) return
    toast({ title: t`Saved ${values.name.trim()}` })
    onClose()
  }
  const loadAgain = async () => {
    const current = webhookValues(await reload())
    setBefore(current)
    setValues(current)
  }
  return (
    <Drawer
      title={webhook ? <Trans>Edit {webhook.name}</Trans> : <Trans>Create webhook</Trans>}
      onClose={onClose}
      footer={
        secret ? (
          <Button kind="first" className="ml-auto" onClick={onClose}>
            <Trans>I have stored the secret</Trans>
          </Button>
        ) : (
          <>
            <Button kind="quiet" className="ml-auto" onClick={onClose}>
              <Trans>Cancel</Trans>
            </Button>
            <Button kind="first" type="submit" form="webhook" disabled={isSaving}>
              {webhook ? <Trans>Save webhook</Trans> : <Trans>Create webhook</Trans>}
            </Button>
          </>
        )
      }
    >
      {secret ? (
        <WebhookSecret value={secret} />
      ) : (
        <form
          id="webhook"
          ref={form}
          noValidate
          onSubmit={(event) => void submit(event)}
          className="flex flex-col gap-4"
        >
          {isConflict && (
            <Notice
              action={
                <Button size="small" onClick={() => void loadAgain()}>
                  <Trans>Load again</Trans>
                </Button>
              }
            >
              <Trans>
                Somebody changed this webhook while you edited it. Load it again to see the change; yours is not saved.
              </Trans>
            </Notice>
          )}
          {failure && <Notice>{failure}</Notice>}
          <WebhookFields values={values} set={set} errors={errors} isEdit={webhook !== undefined} />
        </form>
      )}
    </Drawer>
  )
}
