import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Segments } from '../../ui/segments.tsx'
import { isRefund } from './columns.ts'
import { EventAttribution } from './event-attribution.tsx'
import { EventDetails } from './event-details.tsx'
import { EventJourney } from './event-journey.tsx'
import type { FeedEvent } from './feed.ts'

type Props = { event: FeedEvent; timeZone: string; onClose(): void }

/** One event: as people read it, and as the API has it. */
export function EventDrawer({ event, timeZone, onClose }: Props) {
  const { t } = useLingui()
  const [form, setForm] = useState<'details' | 'json'>('details')
  return (
    <Drawer title={<EventTitle event={event} />} onClose={onClose}>
      <Segments<'details' | 'json'>
        label={t`How to show the event`}
        className="mb-4"
        options={[
          { value: 'details', name: t`Details` },
          { value: 'json', name: 'JSON' },
        ]}
        value={form}
        onChoose={setForm}
      />
      {form === 'json' ? (
        <CodeBlock code={JSON.stringify(event, null, 2)} label={t`JSON of the event`} />
      ) : (
        <div className="flex flex-col gap-6">
          {event.event !== 'click' && <EventAttribution eventId={event.eventId} timeZone={timeZone} />}
          <EventDetails event={event} timeZone={timeZone} />
          {event.event !== 'click' && <EventJourney event={event} timeZone={timeZone} />}
        </div>
      )}
    </Drawer>
  )
}

function EventTitle({ event }: { event: FeedEvent }) {
  if (event.event === 'click') return <Trans>Click</Trans>
  const name = <bdi>{event.eventName.slice(0, 200)}</bdi>
  if (event.event === 'lead') return <Trans>Lead: {name}</Trans>
  return isRefund(event) ? <Trans>Refund: {name}</Trans> : <Trans>Sale: {name}</Trans>
}
