import { Trans, useLingui } from '@lingui/react/macro'
import { ShownSecret } from '../../ui/shown-secret.tsx'

/** The key itself, which only this moment shows. */
export function ShownKey({ value }: { value: string }) {
  const { t } = useLingui()
  return (
    <ShownSecret value={value} copyLabel={t`Copy the key`}>
      <Trans>Copy the key now and store it where your program reads it. It can’t be shown again.</Trans>
    </ShownSecret>
  )
}
