import { Trans } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { WebhookSecret } from './webhook-secret.tsx'
import type { Webhook } from './webhook-values.ts'

/** Gives a webhook a new secret; for a day, deliveries are signed with both. */
export function RotateSecret({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const rotate = useChange('rotateWebhookSecret', ['listWebhooks', 'getWebhook'])
  const secret = rotate.data?.secret
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Rotate the secret of {webhook.name}</Trans>}
        footer={
          secret ? (
            <Button kind="first" onClick={onClose}>
              <Trans>I have stored the secret</Trans>
            </Button>
          ) : (
            <>
              <Button kind="quiet" onClick={onClose}>
                <Trans>Cancel</Trans>
              </Button>
              <Button
                kind="first"
                disabled={rotate.isPending}
                onClick={() => rotate.mutate({ params: { id: webhook.id } })}
              >
                <Trans>Rotate secret</Trans>
              </Button>
            </>
          )
        }
      >
        {secret ? (
          <WebhookSecret value={secret} isRotated />
        ) : (
          <div className="flex flex-col gap-3">
            <Refusal error={rotate.error} />
            <p>
              <Trans>
                For 24 hours, deliveries are signed with both the new and the old secret, so that a receiver with either
                one accepts them. Store the new secret in that time; afterwards the old one no longer signs.
              </Trans>
            </p>
          </div>
        )}
      </DialogContent>
    </Dialog>
  )
}
