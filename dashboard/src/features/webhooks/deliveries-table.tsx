import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { CursorList } from '../../app/cursor-list.ts'
import { Count, Time } from '../../ui/figures.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table-types.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { DeliveryState, LastResponse, NextAttempt } from './delivery-state.tsx'
import type { DeliveriesSearch } from './search.ts'
import type { Delivery } from './webhook-values.ts'

type Props = {
  list: CursorList<Delivery>
  onRange(first: number, last: number): void
  onOpen(delivery: Delivery): void
  isDimmed: boolean
}

export function DeliveriesTable({ list, onRange, onOpen, isDimmed }: Props) {
  const { t } = useLingui()
  const { timeZone } = useWorkspaceSettings()
  const columns: Column<Delivery>[] = [
    { id: 'event', name: <Trans>Event</Trans>, cell: (delivery) => <EventName delivery={delivery} /> },
    {
      id: 'status',
      name: <Trans>Status</Trans>,
      width: 196,
      cell: (delivery) => (
        <>
          <DeliveryState delivery={delivery} />
          <div className="truncate text-xs text-muted">
            <NextAttempt delivery={delivery} />
          </div>
        </>
      ),
    },
    {
      id: 'response',
      name: <Trans>Response</Trans>,
      width: 112,
      cell: (delivery) => <LastResponse delivery={delivery} />,
    },
    {
      id: 'attempts',
      name: <Trans>Attempts</Trans>,
      width: 92,
      isNumber: true,
      isWide: true,
      cell: ({ attempts }) => <Count value={attempts} />,
    },
    {
      id: 'created',
      name: <Trans>Created</Trans>,
      width: 132,
      cell: ({ createdAt }) => (
        <span className="text-muted">
          <Time at={createdAt} timeZone={timeZone} />
        </span>
      ),
    },
  ]
  return (
    <Table<Delivery>
      label={t`Deliveries`}
      columns={columns}
      count={list.count}
      row={list.at}
      rowId={({ eventId }) => eventId}
      rowLabel={({ event, eventId }) => `${event} ${eventId}`}
      rowHeight={44}
      cardHeight={76}
      card={(delivery) => (
        <>
          <EventName delivery={delivery} />
          <p className="mt-1 flex gap-3 overflow-hidden text-xs whitespace-nowrap text-muted">
            <DeliveryState delivery={delivery} />
            <LastResponse delivery={delivery} />
            <span>
              <Plural value={delivery.attempts} one="# attempt" other="# attempts" />
            </span>
            <Time at={delivery.createdAt} timeZone={timeZone} />
          </p>
        </>
      )}
      onOpen={onOpen}
      onRange={onRange}
      isDimmed={isDimmed}
    />
  )
}

/** The trigger with the event's id, which opens the delivery. */
function EventName({ delivery: { event, eventId } }: { delivery: Delivery }) {
  return (
    <Link
      from="/$workspace/settings/webhooks/$id"
      to="."
      search={(before: DeliveriesSearch) => ({ ...before, delivery: eventId })}
      resetScroll={false}
      data-row-link
      className="block min-w-0 rounded-sm"
    >
      <span className="block truncate font-medium">{event}</span>
      <code className="block truncate font-mono text-xs text-muted">{eventId}</code>
    </Link>
  )
}
