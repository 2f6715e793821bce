import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useChange, useOperation } from '../../app/queries.ts'
import { useUser } from '../../app/user.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { Refusal } from '../settings/refusal.tsx'

/** Makes another member the owner. */
export function TransferWorkspace({ onClose }: { onClose(): void }) {
  const { t } = useLingui()
  const { name, id } = useWorkspace()
  const user = useUser()
  const [userId, setUserId] = useState('')
  const { data: members = [] } = useOperation('listMembers', { query: { pageSize: 100 } })
  const transfer = useChange('transferWorkspace', ['listMembers'])
  const others = members.filter((member) => member.userId !== user?.id)
  const confirm = () =>
    transfer.mutateAsync({ params: { idOrSlug: id }, body: { userId } }).then(
      () => {
        toast({ title: t`Transferred ${name}. You are an admin now.` })
        onClose()
      },
      () => undefined,
    )
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Transfer {name}</Trans>}
        description={<Trans>The new owner can change and delete everything. Only they can give it back.</Trans>}
        footer={
          <>
            <Button kind="quiet" onClick={onClose}>
              <Trans>Cancel</Trans>
            </Button>
            <Button kind="harm" disabled={userId === '' || transfer.isPending} onClick={() => void confirm()}>
              <Trans>Transfer workspace</Trans>
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-3">
          <Refusal error={transfer.error} />
          {others.length === 0 ? (
            <p className="text-muted">
              <Trans>There is nobody else yet. Invite the person first.</Trans>
            </p>
          ) : (
            <Field label={<Trans>New owner</Trans>}>
              <Choice
                label={t`Find a member`}
                options={others.map(({ userId, name, email }) => ({ value: userId, name: `${name} (${email})` }))}
                value={userId}
                onChoose={setUserId}
              />
            </Field>
          )}
        </div>
      </DialogContent>
    </Dialog>
  )
}
