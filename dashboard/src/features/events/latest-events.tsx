import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useLocale } from '../../ui/figures.tsx'
import { formatClock, formatExactTime } from '../../ui/format.ts'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import type { Moment } from '../analytics/periods.ts'
import { useMoment } from '../analytics/queries.ts'
import { type CellText, useCellText } from './cell-text.ts'
import { hasLink, isRefund } from './columns.ts'
import { Amount } from './event-columns.tsx'
import { eventKey, type FeedEvent } from './feed.ts'
import { firstEvents, mergeLatest } from './latest.ts'
import { type EventsSearch, listQuery } from './search.ts'
import { useLiveEvents } from './use-live-events.ts'
import { VisitorsNow } from './visitors-now.tsx'

const count = 8
/** Clicks come by the stream. The others are few: one stream for each would use up those that a person may open. */
const conversionsMs = 10_000

/** The latest clicks, leads and sales of the workspace, or of one link, as they arrive. */
export function LatestEvents({ linkId }: { linkId?: string }) {
  const moment = useMoment()
  const search = linkId === undefined ? {} : { linkId }
  return (
    <Panel className="min-w-0">
      <header className="flex flex-wrap items-center gap-x-3 px-4 pt-3 pb-1.5">
        <h2>
          <Trans>Live</Trans>
        </h2>
        <VisitorsNow search={search} />
        <Link
          from="/$workspace"
          to="/$workspace/events"
          search={search}
          className="ml-auto rounded-sm text-sm underline hover:text-muted"
        >
          <Trans>All events</Trans>
        </Link>
      </header>
      {moment ? <Latest search={search} moment={moment} /> : <RowsLoading />}
    </Panel>
  )
}

function Latest({ search, moment }: { search: EventsSearch; moment: Moment }) {
  const { t } = useLingui()
  const text = useCellText()
  // Rows stay where they are while somebody reads or reaches them.
  const [isRead, setRead] = useState(false)
  const clicks = useLiveEvents(listQuery(search, moment), 'stream', isRead)
  const [leads, sales] = (['leads', 'sales'] as const).map((event) => listQuery({ ...search, event }, moment))
  // One read after the other: a plan may allow only a few a second.
  const options = {
    enabled: clicks.feed !== undefined,
    refetchInterval: () => (isRead ? (false as const) : conversionsMs),
  }
  const { data: latestLeads = [] } = useOperation('listEvents', { query: { ...leads, limit: count } }, options)
  const { data: latestSales = [] } = useOperation('listEvents', { query: { ...sales, limit: count } }, options)
  if (!clicks.feed && clicks.error) return <ErrorMessage error={clicks.error} retry={() => clicks.live?.refresh()} />
  if (!clicks.feed) return <RowsLoading />
  const events = mergeLatest([firstEvents(clicks.feed, count), latestLeads, latestSales], count)
  if (events.length === 0) {
    return (
      <p className="px-4 pb-3 text-sm text-muted">
        <Trans>None in the last 30 days. New ones appear here by themselves.</Trans>
      </p>
    )
  }
  return (
    <ol
      aria-label={t`Latest events`}
      className="pb-1.5"
      onPointerEnter={({ pointerType }) => setRead(pointerType === 'mouse')}
      onPointerLeave={() => setRead(false)}
      onFocus={() => setRead(true)}
      onBlur={() => setRead(false)}
    >
      {events.map((event) => (
        <LatestEvent
          key={eventKey(event)}
          {...{ event, text }}
          timeZone={moment.timeZone}
          isOneLink={search.linkId !== undefined}
        />
      ))}
    </ol>
  )
}

type RowProps = { event: FeedEvent; text: CellText; timeZone: string; isOneLink: boolean }

function LatestEvent({ event, text, timeZone, isOneLink }: RowProps) {
  const locale = useLocale()
  const origin = [text('country', event), text('source', event), text('device', event)].filter(Boolean).join(' · ')
  return (
    <li className="flex h-9 items-center gap-3 px-4 text-sm max-md:gap-2">
      <time
        dateTime={event.timestamp}
        title={formatExactTime(event.timestamp, locale, timeZone)}
        className="w-32 shrink-0 whitespace-nowrap text-muted max-md:w-auto"
      >
        {formatClock(event.timestamp, locale, timeZone)}
      </time>
      <span className="flex shrink-0 items-center gap-2">
        <Kind event={event} />
        <Amount event={event} />
      </span>
      {!isOneLink && <LinkName event={event} text={text} />}
      <bdi className={`min-w-0 flex-1 truncate text-muted ${isOneLink ? '' : 'text-right max-md:hidden'}`}>
        {origin}
      </bdi>
    </li>
  )
}

const dots = { click: 'bg-clicks', lead: 'bg-leads', sale: 'bg-sales' }

function Kind({ event }: { event: FeedEvent }) {
  return (
    <>
      <span aria-hidden className={`size-2 rounded-full ${dots[event.event]}`} />
      <KindName event={event} />
    </>
  )
}

function KindName({ event }: { event: FeedEvent }) {
  if (event.event === 'click') return <Trans>Click</Trans>
  if (event.event === 'lead') return <Trans>Lead</Trans>
  return isRefund(event) ? <Trans>Refund</Trans> : <Trans>Sale</Trans>
}

function LinkName({ event, text }: { event: FeedEvent; text: CellText }) {
  const name = <bdi>{text('link', event)}</bdi>
  if (!hasLink(event)) return <span className="min-w-0 truncate text-muted">{name}</span>
  return (
    <Link
      from="/$workspace"
      to="/$workspace/links/$id"
      params={{ id: event.link.id }}
      className="min-w-0 truncate rounded-sm font-medium hover:underline"
    >
      {name}
    </Link>
  )
}
