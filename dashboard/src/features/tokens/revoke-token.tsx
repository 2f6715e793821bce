import { Trans, useLingui } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { toast } from '../../ui/toast.tsx'
import type { Token } from './token-values.ts'

/** Asks for the name of a key before it ends. */
export function RevokeToken({ token, onClose }: { token: Token; onClose(): void }) {
  const { t } = useLingui()
  const revoke = useChange('revokeToken', ['listTokens'])
  const confirm = () =>
    revoke.mutateAsync({ params: { id: token.id } }).then(
      () => {
        toast({ title: t`Revoked ${token.name}` })
        onClose()
      },
      () => undefined,
    )
  return (
    <ConfirmName
      title={<Trans>Revoke {token.name}</Trans>}
      name={token.name}
      action={<Trans>Revoke key</Trans>}
      isBusy={revoke.isPending}
      error={revoke.error?.message}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        <Trans>Programs with this key stop working within a second. To replace a key without a gap, rotate it.</Trans>
      </p>
    </ConfirmName>
  )
}
