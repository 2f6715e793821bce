import { Trans, useLingui } from '@lingui/react/macro'
import { ErrorMessage } from '../../app/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Select } from '../../ui/select.tsx'
import { JourneyItem } from './journey-item.tsx'
import type { JourneyEvent, useJourney } from './queries.ts'

type Order = 'asc' | 'desc'
type Props = { journey: ReturnType<typeof useJourney>; order: Order; onOrder(order: Order): void }

/** The clicks, leads, sales and refunds of the customer, as a timeline. */
export function JourneyPanel({ journey, order, onOrder }: Props) {
  const { t } = useLingui()
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = journey
  const events = data?.pages.flatMap((page) => page.journey.events)
  return (
    <Panel>
      <header className="flex flex-wrap items-center gap-2 border-b px-4 py-2.5">
        <h2 className="mr-auto">
          <Trans>Journey</Trans>
        </h2>
        <Select
          aria-label={t`Order of the journey`}
          value={order}
          options={[
            { value: 'desc', name: t`Newest first` },
            { value: 'asc', name: t`Oldest first` },
          ]}
          onChoose={(value) => onOrder(value as Order)}
        />
      </header>
      {error && !events ? (
        <ErrorMessage error={error} retry={() => void refetch()} />
      ) : !events ? (
        <RowsLoading />
      ) : events.length === 0 ? (
        <NoEvents />
      ) : (
        <ol aria-label={t`Journey`} className="px-4 py-2">
          {events.map((event) => (
            <JourneyItem key={eventKey(event)} event={event} />
          ))}
        </ol>
      )}
      {hasNextPage && (
        <div className="flex flex-col items-center gap-2 border-t p-3">
          {error && (
            <p role="alert" className="text-sm text-harm">
              {error.message}
            </p>
          )}
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            <Trans>Show more events</Trans>
          </Button>
        </div>
      )}
    </Panel>
  )
}

function eventKey(event: JourneyEvent): string {
  return event.event === 'click' ? `click ${event.click.id}` : event.id
}

function NoEvents() {
  return (
    <Message title={<Trans>No events yet</Trans>}>
      <p>
        <Trans>Leads, sales and refunds that your server reports with this customer’s external id appear here.</Trans>
      </p>
    </Message>
  )
}
