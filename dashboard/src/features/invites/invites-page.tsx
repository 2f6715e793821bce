import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { InviteForm } from './invite-form.tsx'
import { InviteRow } from './invite-row.tsx'

type Status = 'pending' | 'expired' | 'accepted'

/** Invites people, and lists the invites. */
export function InvitesPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const [status, setStatus] = useState<Status | ''>('')
  const query = { pageSize: 100, ...(status && { status }) }
  const { data: invites, error, refetch, isPlaceholderData } = useOperation('listInvites', { query })
  const statuses = [
    { value: '', name: t`All invites` },
    { value: 'pending', name: t`Open` },
    { value: 'expired', name: t`Expired` },
    { value: 'accepted', name: t`Accepted` },
  ]
  return (
    <>
      {can('workspaces.write') && (
        <Section
          title={<Trans>Invite people</Trans>}
          description={
            <Trans>
              Each person gets an e-mail with a link that works once, for 14 days, and only for their address.
            </Trans>
          }
        >
          <InviteForm />
        </Section>
      )}
      <Section
        title={<Trans>Invites</Trans>}
        actions={
          <Select
            aria-label={t`Show`}
            className="w-32"
            value={status}
            options={statuses}
            onChoose={(value) => setStatus(value as Status)}
          />
        }
      >
        <Panel>
          {error && !invites ? (
            <ErrorMessage error={error} retry={() => void refetch()} />
          ) : !invites ? (
            <RowsLoading />
          ) : invites.length === 0 ? (
            <Message title={<Trans>No invites</Trans>}>
              <p>
                <Trans>Invites stand here until they are accepted, with a way to send or end them again.</Trans>
              </p>
            </Message>
          ) : (
            <ul aria-label={t`Invites`} className={isPlaceholderData ? 'opacity-60' : ''}>
              {invites.map((invite) => (
                <InviteRow key={invite.id} invite={invite} />
              ))}
            </ul>
          )}
        </Panel>
      </Section>
    </>
  )
}
