import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { DeliveriesPanel } from './deliveries-panel.tsx'
import { useEnabling } from './webhook-actions.ts'
import { WebhookDetails } from './webhook-details.tsx'
import { WebhookMenu } from './webhook-menu.tsx'
import { StateReason, WebhookState, webhookPhase } from './webhook-state.tsx'
import type { Webhook } from './webhook-values.ts'

const SendTest = lazy(async () => ({ default: (await import('./send-test.tsx')).SendTest }))
const WebhookDrawer = lazy(async () => ({ default: (await import('./webhook-drawer.tsx')).WebhookDrawer }))
const route = getRouteApi('/$workspace/settings/webhooks/$id')
const pollMs = 5_000

/** One webhook: how it fares, what it sends, and its deliveries. */
export function WebhookPage() {
  const { id } = route.useParams()
  return <ReadWebhook key={id} id={id} />
}

function ReadWebhook({ id }: { id: string }) {
  const { data: webhook, error, refetch } = useOperation('getWebhook', { params: { id } }, { refetchInterval: pollMs })
  return (
    <>
      <AllWebhooks />
      {webhook ? (
        <LoadedWebhook webhook={webhook} />
      ) : (
        <Panel>{error ? <ErrorMessage error={error} retry={() => void refetch()} /> : <RowsLoading />}</Panel>
      )}
    </>
  )
}

function AllWebhooks() {
  return (
    <p className="mb-3 text-sm text-muted">
      <Link from="/$workspace" to="/$workspace/settings/webhooks" className="underline hover:text-ink">
        <Trans>All webhooks</Trans>
      </Link>
    </p>
  )
}

function LoadedWebhook({ webhook }: { webhook: Webhook }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const navigate = route.useNavigate()
  const [open, setOpen] = useState<'edit' | 'test'>()
  const close = () => setOpen(undefined)
  const canWrite = can('webhooks.write')
  const isEnabled = webhook.disabledAt === null
  useCommands(
    canWrite
      ? [
          { id: 'webhooks.edit', name: t`Edit webhook`, keys: 'e', run: () => setOpen('edit') },
          ...(isEnabled
            ? [{ id: 'webhooks.test', name: t`Send test event`, keys: 't', run: () => setOpen('test') }]
            : []),
        ]
      : [],
  )
  return (
    <>
      <Section
        title={
          <span className="flex flex-wrap items-baseline gap-x-3">
            <bdi className="wrap-anywhere">{webhook.name}</bdi>
            <span role="status" className="text-sm font-normal">
              <WebhookState webhook={webhook} />
            </span>
          </span>
        }
        description={
          <bdi className="line-clamp-3 wrap-anywhere" title={webhook.url}>
            {webhook.url}
          </bdi>
        }
        actions={
          canWrite && (
            <span className="flex flex-wrap items-center gap-2">
              <Button disabled={!isEnabled} onClick={() => setOpen('test')}>
                <Trans>Send test event</Trans>
                <Kbd>T</Kbd>
              </Button>
              <Button onClick={() => setOpen('edit')}>
                <Trans>Edit webhook</Trans>
                <Kbd>E</Kbd>
              </Button>
              <WebhookMenu webhook={webhook} onDeleted={() => void navigate({ to: '/$workspace/settings/webhooks' })} />
            </span>
          )
        }
      >
        <StateNotice webhook={webhook} canWrite={canWrite} />
        <WebhookDetails webhook={webhook} />
      </Section>
      <DeliveriesPanel webhook={webhook} />
      <Suspense>
        {open === 'edit' && <WebhookDrawer webhook={webhook} onClose={close} />}
        {open === 'test' && <SendTest webhook={webhook} onClose={close} />}
      </Suspense>
    </>
  )
}

/** What is wrong and what to do about it. */
function StateNotice({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const { enable } = useEnabling(webhook)
  const phase = webhookPhase(webhook)
  if (phase === 'active') return null
  const advice: ReactNode =
    phase === 'failing' ? (
      <Trans>
        Failed deliveries are sent again for a day. After five days without success the webhook is disabled.
      </Trans>
    ) : webhook.disabledReason === 'asked' ? (
      <Trans>Nothing is sent until it is enabled. Events of that time are not sent later.</Trans>
    ) : (
      <Trans>
        Repair the receiver, then enable the webhook again and resend what failed. Events while it is disabled are lost.
      </Trans>
    )
  return (
    <Notice
      kind={phase === 'disabled' && webhook.disabledReason !== 'asked' ? 'harm' : 'plain'}
      action={
        phase === 'disabled' &&
        canWrite && (
          <Button size="small" onClick={() => void enable()}>
            <Trans>Enable again</Trans>
          </Button>
        )
      }
    >
      <p className="first-letter:uppercase">
        <StateReason webhook={webhook} />.
      </p>
      <p className="text-muted">{advice}</p>
    </Notice>
  )
}
