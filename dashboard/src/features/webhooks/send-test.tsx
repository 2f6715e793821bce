import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { Trigger } from '@tributary/contract/webhooks'
import { useState } from 'react'
import { useChange, useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { State } from '../../ui/state.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { triggerNames } from './trigger-names.ts'
import { triggers } from './triggers.ts'
import type { DeliveryInFull, Webhook } from './webhook-values.ts'

const pollMs = 1_000

/** Sends an event with sample data, and shows what the receiver answered. */
export function SendTest({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { t } = useLingui()
  const [event, setEvent] = useState<Trigger>(webhook.triggers[0] ?? 'link.created')
  const send = useChange('testWebhook', ['listWebhookDeliveries'])
  const options = [...webhook.triggers, ...triggers.filter((trigger) => !webhook.triggers.includes(trigger))]
  const eventId = send.data?.eventId
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Send test event to {webhook.name}</Trans>}
        footer={
          <>
            <Button kind="quiet" onClick={onClose}>
              <Trans>Close</Trans>
            </Button>
            <Button
              kind="first"
              disabled={send.isPending}
              onClick={() => send.mutate({ params: { id: webhook.id }, body: { event } })}
            >
              {eventId ? <Trans>Send another</Trans> : <Trans>Send test event</Trans>}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-3">
          <Refusal error={send.error} />
          <Field
            label={<Trans>Trigger</Trans>}
            hint={<Trans>The event has sample data and changes nothing in the workspace.</Trans>}
          >
            <Select
              autoFocus
              value={event}
              options={options.map((trigger) => ({ value: trigger, name: `${trigger} – ${t(triggerNames[trigger])}` }))}
              onChoose={(trigger) => setEvent(trigger as Trigger)}
            />
          </Field>
          {eventId && <Result key={eventId} webhook={webhook} eventId={eventId} onClose={onClose} />}
        </div>
      </DialogContent>
    </Dialog>
  )
}

/** What the first attempt brought; a later one follows by itself, as for every event. */
function Result({ webhook, eventId, onClose }: { webhook: Webhook; eventId: string; onClose(): void }) {
  const { data } = useOperation(
    'getWebhookDelivery',
    { params: { id: webhook.id, eventId } },
    { refetchInterval: ({ state }) => (state.data?.log.length ? false : pollMs), staleTime: 0 },
  )
  const delivery = data?.eventId === eventId ? data : undefined
  const hasEnded = delivery !== undefined && delivery.log.length > 0
  return (
    <div role="status" className="flex flex-col gap-1.5 rounded-md border px-3 py-2.5 text-sm">
      <Outcome delivery={delivery} />
      {hasEnded && (
        <p>
          <Link
            from="/$workspace"
            to="/$workspace/settings/webhooks/$id"
            params={{ id: webhook.id }}
            search={{ delivery: eventId }}
            onClick={onClose}
            className="underline"
          >
            <Trans>Open the delivery</Trans>
          </Link>
        </p>
      )}
    </div>
  )
}

function Outcome({ delivery }: { delivery: DeliveryInFull | undefined }) {
  const attempt = delivery?.log[0]
  if (!attempt) {
    return (
      <State kind="waiting">
        <Trans>Waiting for the receiver …</Trans>
      </State>
    )
  }
  const { responseStatus, durationMs, problem } = attempt
  if (problem === null) {
    return (
      <State kind="good">
        <Trans>
          Received: status {responseStatus} after {durationMs} ms
        </Trans>
      </State>
    )
  }
  return (
    <>
      <State kind="harm">
        {responseStatus === null ? (
          <Trans>No answer, after {durationMs} ms</Trans>
        ) : (
          <Trans>
            Refused: status {responseStatus} after {durationMs} ms
          </Trans>
        )}
      </State>
      <p className="wrap-anywhere">{problem}</p>
    </>
  )
}
