import { Trans } from '@lingui/react/macro'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { Refusal } from '../settings/refusal.tsx'

/** Asks for the slug, deletes the workspace, and opens another one. */
export function DeleteWorkspace({ onClose }: { onClose(): void }) {
  const { slug, name, id } = useWorkspace()
  const remove = useChange('deleteWorkspace')
  const confirm = () =>
    remove.mutate({ params: { idOrSlug: id }, query: { confirm: slug } }, { onSuccess: () => location.assign('/app') })
  return (
    <ConfirmName
      title={<Trans>Delete {name}</Trans>}
      name={slug}
      action={<Trans>Delete workspace</Trans>}
      isBusy={remove.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        <Trans>
          Links stop redirecting and keys stop working at once. Links, events, customers and partners are then erased.
          This can’t be undone.
        </Trans>
      </p>
      <Refusal error={remove.error} />
    </ConfirmName>
  )
}
