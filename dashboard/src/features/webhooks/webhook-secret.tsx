import { Trans, useLingui } from '@lingui/react/macro'
import { ShownSecret } from '../../ui/shown-secret.tsx'

/** The secret that signs deliveries, which only this moment shows. */
export function WebhookSecret({ value, isRotated }: { value: string; isRotated?: boolean }) {
  const { t } = useLingui()
  return (
    <ShownSecret value={value} copyLabel={t`Copy the secret`}>
      {isRotated ? (
        <Trans>Copy the new secret now and store it in your receiver within 24 hours. It can’t be shown again.</Trans>
      ) : (
        <Trans>
          Copy the secret now and store it in your receiver, which checks the signature of each delivery with it. It
          can’t be shown again.
        </Trans>
      )}
    </ShownSecret>
  )
}
