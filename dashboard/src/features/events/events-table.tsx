import { useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { Table } from '../../ui/table.tsx'
import { type CellText, useCellText } from './cell-text.ts'
import { kindNames } from './column-names.ts'
import type { ColumnName } from './columns.ts'
import { Amount, EventTime, type OpenCell, useEventColumns } from './event-columns.tsx'
import { countRows, eventAt, eventKey, type Feed, type FeedEvent } from './feed.ts'
import type { EventKind } from './search.ts'

type Props = {
  kind: EventKind
  feed: Feed
  names: readonly ColumnName[]
  /** Whether small windows leave out the columns of lesser weight. */
  isDefault: boolean
  isDense: boolean
  isDimmed: boolean
  timeZone: string
  onOpen(event: FeedEvent): void
  onCell(cell: OpenCell): void
  onRange(first: number, last: number): void
}

/** The events, newest first. */
export function EventsTable({
  kind,
  feed,
  names,
  isDefault,
  isDense,
  isDimmed,
  timeZone,
  onOpen,
  onCell,
  onRange,
}: Props) {
  const { t } = useLingui()
  const text = useCellText()
  const count = useMemo(() => countRows(feed), [feed])
  return (
    <Table<FeedEvent>
      label={t(kindNames[kind])}
      columns={useEventColumns({ names, isDefault, timeZone, onOpen, onCell })}
      count={count}
      row={(index) => eventAt(feed, index)}
      rowId={eventKey}
      rowLabel={(event) => text('link', event)}
      rowHeight={isDense ? 28 : 36}
      cardHeight={80}
      card={(event) => <EventCard {...{ event, text, timeZone, onOpen }} />}
      onOpen={onOpen}
      onRange={onRange}
      isDimmed={isDimmed}
    />
  )
}

type CardProps = { event: FeedEvent; text: CellText; timeZone: string; onOpen(event: FeedEvent): void }

/** An event on a small screen: all of it opens the event. */
function EventCard({ event, text, timeZone, onOpen }: CardProps) {
  const details = [text('country', event), text('device', event), text('source', event)]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the time in it is a button
    // biome-ignore lint/a11y/useKeyWithClickEvents: the time in it is a button
    <div
      onClick={({ target }) => target instanceof Element && !target.closest('button') && onOpen(event)}
      className="flex h-15 flex-col justify-center gap-0.5 text-sm"
    >
      <div className="flex items-center gap-3">
        <EventTime event={event} timeZone={timeZone} onOpen={onOpen} />
        <span className="ml-auto">
          <Amount event={event} />
        </span>
      </div>
      <bdi className="block truncate">
        {event.event === 'click' ? text('link', event) : `${text('name', event)} · ${text('customer', event)}`}
      </bdi>
      <bdi className="block truncate text-xs text-muted">{details.join(' · ')}</bdi>
    </div>
  )
}
