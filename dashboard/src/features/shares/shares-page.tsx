import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { useAllShares } from './all-shares.ts'
import { DeleteShare } from './delete-share.tsx'
import { ShareForm } from './share-form.tsx'
import { ShareRow } from './share-row.tsx'
import type { Share } from './share-values.ts'

/** All public pages of the workspace, in one list: what strangers can see, and how to end it. */
export function SharesPage() {
  const { can } = useWorkspace()
  const { data: shares, error, refetch } = useAllShares()
  const [dialog, setDialog] = useState<{ edit: Share } | { remove: Share }>()
  const close = () => setDialog(undefined)
  return (
    <Section
      title={<Trans>Public pages</Trans>}
      description={<Trans>Statistics that people without an account can open. Each has an address of its own.</Trans>}
    >
      <Panel>
        {error && !shares ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !shares ? (
          <RowsLoading />
        ) : shares.length === 0 ? (
          <Message title={<Trans>Nothing is shared</Trans>} action={can('views.write') && <WhereToShare />}>
            <p>
              <Trans>
                To show a client or a team how a campaign does, share the statistics of a link, a folder or a saved view
                of the analytics.
              </Trans>
            </p>
          </Message>
        ) : (
          <ul>
            {shares.map((share) => (
              <ShareRow
                key={share.id}
                share={share}
                name={share.name}
                canWrite={can('views.write') && (share.viewId !== null || can('links.write'))}
                onEdit={() => setDialog({ edit: share })}
                onDelete={() => setDialog({ remove: share })}
              />
            ))}
          </ul>
        )}
      </Panel>
      {dialog && 'edit' in dialog && <ShareForm share={dialog.edit} onClose={close} />}
      {dialog && 'remove' in dialog && <DeleteShare share={dialog.remove} onClose={close} />}
    </Section>
  )
}

/** The pages on which statistics are shared. */
function WhereToShare() {
  return (
    <>
      <Button asChild>
        <Link from="/$workspace" to="/$workspace/links">
          <Trans>Open links</Trans>
        </Link>
      </Button>
      <Button asChild>
        <Link from="/$workspace" to="/$workspace/analytics">
          <Trans>Open analytics</Trans>
        </Link>
      </Button>
    </>
  )
}
