import { Trans } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'

/** Asks for the workspace's slug, ends the membership, and opens another workspace. */
export function LeaveWorkspace({ onClose }: { onClose(): void }) {
  const { slug, name, id } = useWorkspace()
  const leave = useChange('leaveWorkspace')
  const confirm = () => leave.mutate({ params: { idOrSlug: id } }, { onSuccess: () => location.assign('/app') })
  return (
    <ConfirmName
      title={<Trans>Leave {name}</Trans>}
      name={slug}
      action={<Trans>Leave workspace</Trans>}
      isBusy={leave.isPending}
      error={leave.error?.message}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        <Trans>You lose access at once. An owner or admin can invite you again.</Trans>
      </p>
    </ConfirmName>
  )
}
