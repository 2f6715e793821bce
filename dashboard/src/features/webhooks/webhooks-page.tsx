import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { WebhookRow } from './webhook-row.tsx'

const WebhookDrawer = lazy(async () => ({ default: (await import('./webhook-drawer.tsx')).WebhookDrawer }))

/** The webhooks of the workspace, each with its state. */
export function WebhooksPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const [isCreating, setCreating] = useState(false)
  const {
    data: webhooks,
    error,
    refetch,
    isPlaceholderData,
  } = useOperation('listWebhooks', {
    query: { sortBy: 'name', pageSize: 100 },
  })
  const canWrite = can('webhooks.write')
  useCommands(
    canWrite ? [{ id: 'webhooks.create', name: t`Create webhook`, keys: 'n', run: () => setCreating(true) }] : [],
  )
  const create = canWrite && (
    <Button kind="first" onClick={() => setCreating(true)}>
      <Trans>Create webhook</Trans>
      <Kbd>N</Kbd>
    </Button>
  )
  return (
    <Section
      title={<Trans>Webhooks</Trans>}
      description={<Trans>Addresses of yours that are called when something happens, signed with a secret.</Trans>}
      actions={create}
    >
      <Panel>
        {error && !webhooks ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !webhooks ? (
          <RowsLoading />
        ) : webhooks.length === 0 ? (
          <Message title={<Trans>No webhooks yet</Trans>} action={create}>
            <p>
              <Trans>
                Your server gets each lead and sale within seconds, for example at https://example.com/webhooks. What it
                misses is sent again for a day.
              </Trans>
            </p>
          </Message>
        ) : (
          <ul aria-label={t`Webhooks`} className={isPlaceholderData ? 'opacity-60' : ''}>
            {webhooks.map((webhook) => (
              <WebhookRow key={webhook.id} webhook={webhook} />
            ))}
          </ul>
        )}
      </Panel>
      <Suspense>{isCreating && canWrite && <WebhookDrawer onClose={() => setCreating(false)} />}</Suspense>
    </Section>
  )
}
