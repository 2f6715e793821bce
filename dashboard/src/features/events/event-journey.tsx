import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQueries } from '@tanstack/react-query'
import { operationQuery } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Time } from '../../ui/figures.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useCellText } from './cell-text.ts'
import { Amount } from './event-columns.tsx'
import { eventKey, type FeedEvent } from './feed.ts'
import { type JourneyStep, mergeJourney } from './journey.ts'
import { eventKinds } from './search.ts'

const most = 100

const colors: Record<JourneyStep['kind'], string> = {
  click: 'bg-clicks',
  lead: 'bg-leads',
  sale: 'bg-sales',
  refund: 'bg-harm',
}
const names: Record<JourneyStep['kind'], MessageDescriptor> = {
  click: msg`Click`,
  lead: msg`Lead`,
  sale: msg`Sale`,
  refund: msg`Refund`,
}

type Props = { event: Exclude<FeedEvent, { event: 'click' }>; timeZone: string }

/** The clicks, leads and sales of the event's customer, oldest first. */
export function EventJourney({ event, timeZone }: Props) {
  const { slug } = useWorkspace()
  const { id: customerId } = event.customer
  const results = useQueries({
    queries: eventKinds.map((kind) => ({
      ...operationQuery(slug, 'listEvents', {
        query: { event: kind, customerId, interval: 'all' as const, limit: most, attributed: 'all' as const },
      }),
      placeholderData: undefined,
    })),
  })
  const failed = results.find(({ error }) => error)
  const lists = results.flatMap(({ data }) => (data ? [data] : []))
  const { steps, isCut } = mergeJourney(lists, most)
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium">
        <Trans>Journey of the customer</Trans>
      </h3>
      {failed ? (
        <p className="text-sm text-harm">{failed.error?.message}</p>
      ) : lists.length < eventKinds.length ? (
        <Skeleton className="w-64" />
      ) : (
        <>
          {isCut && (
            <p className="text-xs text-muted">
              <Trans>Only the newest events are shown.</Trans>
            </p>
          )}
          <ol className="text-sm">
            {steps.map((step) => (
              <Step key={step.key} step={step} isCurrent={step.key === eventKey(event)} timeZone={timeZone} />
            ))}
          </ol>
        </>
      )}
    </section>
  )
}

function Step({ step, isCurrent, timeZone }: { step: JourneyStep; isCurrent: boolean; timeZone: string }) {
  const { t } = useLingui()
  const text = useCellText()
  const { kind, event } = step
  return (
    <li
      aria-current={isCurrent || undefined}
      className={`flex min-h-8 items-center gap-2.5 border-b py-1 last:border-b-0 ${isCurrent ? 'font-medium' : ''}`}
    >
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${colors[kind]}`} />
      <span className="shrink-0">{t(names[kind])}</span>
      <bdi className="min-w-0 flex-1 truncate text-muted">
        {event.event === 'click' ? text('link', event) : text('name', event)}
      </bdi>
      <Amount event={event} />
      <span className="shrink-0 text-xs text-muted">
        <Time at={event.timestamp} timeZone={timeZone} />
      </span>
    </li>
  )
}
