import { Trans, useLingui } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { toast } from '../../ui/toast.tsx'
import type { Webhook } from './webhook-values.ts'

type Props = { webhook: Webhook; onClose(): void; onDeleted?(): void }

/** Asks for the name of a webhook before it is deleted with its deliveries. */
export function DeleteWebhook({ webhook, onClose, onDeleted }: Props) {
  const { t } = useLingui()
  const { id, name } = webhook
  const remove = useChange('deleteWebhook', ['listWebhooks'])
  const confirm = () =>
    remove.mutateAsync({ params: { id } }).then(
      () => {
        toast({ title: t`Deleted ${name}` })
        onClose()
        onDeleted?.()
      },
      () => undefined,
    )
  return (
    <ConfirmName
      title={<Trans>Delete {name}</Trans>}
      name={name}
      action={<Trans>Delete webhook</Trans>}
      isBusy={remove.isPending}
      error={remove.error?.message}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        <Trans>
          Its deliveries are deleted too, also those that still wait. To pause a webhook, disable it: it then keeps its
          deliveries and its secret.
        </Trans>
      </p>
    </ConfirmName>
  )
}
