import { Trans } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import type { Share } from './share-values.ts'

/** Deletes a page that has ended; its address never comes back. */
export function DeleteShare({ share, onClose }: { share: Share; onClose(): void }) {
  const { mutate, error, isPending } = useChange('deleteShare', ['listShares'])
  return (
    <ConfirmName
      title={<Trans>Delete page</Trans>}
      action={<Trans>Delete page</Trans>}
      name={share.title ?? share.name}
      error={error?.message}
      isBusy={isPending}
      onConfirm={() => mutate({ params: { id: share.id } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        <Trans>Its address will never work again. The statistics stay in the workspace.</Trans>
      </p>
    </ConfirmName>
  )
}
