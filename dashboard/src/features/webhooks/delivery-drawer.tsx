import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { CursorList } from '../../app/cursor-list.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useChange, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Time } from '../../ui/figures.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Steps } from '../../ui/steps.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { Refusal } from '../settings/refusal.tsx'
import { Attempts } from './attempts.tsx'
import { DeliveryRequest } from './delivery-request.tsx'
import { DeliveryState, NextAttempt } from './delivery-state.tsx'
import type { Delivery, DeliveryInFull, Webhook } from './webhook-values.ts'

type Props = {
  webhook: Webhook
  eventId: string
  /** The list that it was opened from, to step through. */
  list: CursorList<Delivery> | undefined
  onStep(delivery: Delivery): void
  onClose(): void
}

const pendingPollMs = 2_000

/** One delivery: what was sent, and what came back each time. */
export function DeliveryDrawer({ webhook, eventId, list, onStep, onClose }: Props) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const input = { params: { id: webhook.id, eventId } }
  const { data, error, refetch } = useOperation('getWebhookDelivery', input, {
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? pendingPollMs : false),
    staleTime: 0,
  })
  const delivery = data?.eventId === eventId ? data : undefined
  const resend = useChange('replayWebhookDelivery', ['getWebhookDelivery', 'listWebhookDeliveries', 'getWebhook'])
  const index = list ? list.loaded.findIndex((one) => one.eventId === eventId) : -1
  const beside = (step: 1 | -1) => (index === -1 ? undefined : list?.loaded[index + step])
  const [previous, next] = [beside(-1), beside(1)]
  return (
    <Drawer
      title={delivery?.event ?? <Trans>Delivery</Trans>}
      onClose={onClose}
      footer={
        <>
          <Steps
            labels={{ previous: t`Newer delivery`, next: t`Older delivery` }}
            onPrevious={previous && (() => onStep(previous))}
            onNext={next && (() => onStep(next))}
          />
          {can('webhooks.write') && (
            <Button
              kind="first"
              className="ml-auto"
              disabled={!delivery || delivery.body === null || webhook.disabledAt !== null || resend.isPending}
              onClick={() => resend.mutate(input)}
            >
              <Trans>Resend</Trans>
            </Button>
          )}
        </>
      }
    >
      {delivery ? (
        <div className="flex flex-col gap-5">
          <Refusal error={resend.error} />
          <Summary delivery={delivery} />
          <Attempts log={delivery.log} />
          <DeliveryRequest key={eventId} delivery={delivery} url={delivery.log[0]?.url ?? webhook.url} />
        </div>
      ) : error ? (
        <ErrorMessage error={error} retry={() => void refetch()} />
      ) : (
        <RowsLoading />
      )}
    </Drawer>
  )
}

function Summary({ delivery }: { delivery: DeliveryInFull }) {
  const { timeZone } = useWorkspaceSettings()
  return (
    <div role="status" className="text-sm">
      <DeliveryState delivery={delivery} />
      <p className="text-muted">
        <Plural value={delivery.attempts} one="# attempt" other="# attempts" />
        {' · '}
        <Trans>
          created <Time at={delivery.createdAt} timeZone={timeZone} />
        </Trans>
        {delivery.status === 'pending' && (
          <>
            {' · '}
            <NextAttempt delivery={delivery} />
          </>
        )}
      </p>
    </div>
  )
}
