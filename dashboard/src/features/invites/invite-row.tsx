import { Trans, useLingui } from '@lingui/react/macro'
import type { OperationAnswer } from '@tributary/contract/client'
import type { ReactNode } from 'react'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { State, type StateKind } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { roleNames } from '../permissions/role-names.ts'

type Invite = OperationAnswer<'listInvites'>[number]

const kinds: Record<Invite['status'], StateKind> = { pending: 'waiting', expired: 'none', accepted: 'good' }

/** One invite, with buttons that send it again or end it. */
export function InviteRow({ invite }: { invite: Invite }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { timeZone } = useWorkspaceSettings()
  const { id, email, role, status } = invite
  const renew = useChange('renewInvite', ['listInvites'])
  const revoke = useChange('revokeInvite', ['listInvites'])
  const again = useChange('createInvites', ['listInvites'])
  const onError = (error: Error) => toast({ kind: 'harm', title: error.message })
  const send = () =>
    renew.mutateAsync({ params: { id } }).then(() => toast({ title: t`Sent to ${email} again` }), onError)
  const inviteAgain = () => again.mutateAsync({ body: { email, role } }).catch(onError)
  const end = () =>
    revoke
      .mutateAsync({ params: { id } })
      .then(() => toast({ title: t`The invite of ${email} has ended`, undo: inviteAgain }), onError)
  const words: Record<Invite['status'], ReactNode> = {
    pending: (
      <Trans>
        open until <Time at={invite.expiresAt} timeZone={timeZone} isDay />
      </Trans>
    ),
    expired: <Trans>expired</Trans>,
    accepted: <Trans>accepted</Trans>,
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-3.5 py-2 text-sm last:border-b-0">
      <div className="min-w-48 flex-1">
        <bdi className="block truncate font-medium">{email}</bdi>
        <p className="text-xs text-muted">
          {t(roleNames[role])} · <Time at={invite.createdAt} timeZone={timeZone} />
        </p>
      </div>
      <span className="text-xs text-muted">
        <State kind={kinds[status]}>{words[status]}</State>
      </span>
      {can('workspaces.write') && status !== 'accepted' && (
        <span className="flex gap-1.5">
          <Button
            size="small"
            disabled={renew.isPending}
            aria-label={t`Send again to ${email}`}
            onClick={() => void send()}
          >
            <Trans>Send again</Trans>
          </Button>
          <Button
            size="small"
            kind="quiet"
            disabled={revoke.isPending}
            aria-label={t`Revoke the invite of ${email}`}
            onClick={() => void end()}
          >
            <Trans>Revoke</Trans>
          </Button>
        </span>
      )}
    </li>
  )
}
