import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { useReadWebhooksAgain } from './webhook-actions.ts'
import type { Webhook } from './webhook-values.ts'

const hourMs = 3_600_000
/** Slightly less than 30 days, the longest that the server takes, because time passes until it reads the request. */
const mostHours = 30 * 24 - 0.1

/** Sends every failed delivery since a time again. */
export function ResendFailed({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const readAgain = useReadWebhooksAgain()
  const [since, setSince] = useState('24')
  const [time, setTime] = useState('')
  const choices = [
    { value: '1', name: t`in the last hour` },
    { value: '24', name: t`in the last 24 hours` },
    { value: '168', name: t`in the last 7 days` },
    { value: String(mostHours), name: t`in the last 30 days` },
    { value: 'time', name: t`since a time` },
  ]
  const from = since === 'time' ? new Date(time) : new Date(Date.now() - Number(since) * hourMs)
  const isValid = !Number.isNaN(from.getTime())
  const resend = async () => {
    const { replayed } = await call(
      'replayFailedWebhookDeliveries',
      { params: { id: webhook.id }, body: { since: from.toISOString() } },
      slug,
    )
    toast({
      title:
        replayed === 0
          ? t`No delivery failed in that time`
          : t`${plural(replayed, { one: '# failed delivery is sent again', other: '# failed deliveries are sent again' })}`,
    })
    await readAgain()
  }
  return (
    <FormDialog
      title={<Trans>Resend failed deliveries</Trans>}
      submit={<Trans>Resend deliveries</Trans>}
      isReady={isValid}
      onSubmit={resend}
      onClose={onClose}
    >
      <p>
        <Trans>
          Every failed delivery of {webhook.name} is sent again, with the same id, so that your receiver can recognize
          one that it has already handled.
        </Trans>
      </p>
      <Field label={<Trans>Failed</Trans>}>
        <Select autoFocus value={since} options={choices} onChoose={setSince} />
      </Field>
      {since === 'time' && (
        <Field label={<Trans>Since</Trans>} hint={<Trans>At most 30 days ago, in the time zone of this device.</Trans>}>
          <TextInput type="datetime-local" value={time} onChange={(event) => setTime(event.target.value)} />
        </Field>
      )}
    </FormDialog>
  )
}
