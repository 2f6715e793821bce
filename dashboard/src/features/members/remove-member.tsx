import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { displayName, type Member, type MemberChanges } from './member-changes.ts'

type Props = { member: Member; changes: MemberChanges; onClose(): void }

/** Asks for the e-mail address before a member is removed. */
export function RemoveMember({ member, changes, onClose }: Props) {
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    const isDone = await changes.remove(member)
    setBusy(false)
    if (isDone) onClose()
  }
  return (
    <ConfirmName
      title={<Trans>Remove {displayName(member)}</Trans>}
      name={member.email}
      action={<Trans>Remove member</Trans>}
      isBusy={isBusy}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        <Trans>
          The membership, the personal keys and the open invites of this member end within a second. Links and machine
          keys remain. You can invite them again.
        </Trans>
      </p>
      <Refusal error={changes.error} />
    </ConfirmName>
  )
}
