import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { FilterBar, filterList } from '../../ui/filter-bar.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { focusRow } from '../../ui/row-focus.ts'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Withheld } from '../../ui/withheld.tsx'
import { useEventFilters } from '../analytics/event-filters.tsx'
import { defaultPeriod, type Moment, reachesNow } from '../analytics/periods.ts'
import { useMoment } from '../analytics/queries.ts'
import { includesEvents } from './access.ts'
import { kindNames } from './column-names.ts'
import { chooseColumns } from './columns.ts'
import type { OpenCell } from './event-columns.tsx'
import { EventsActions } from './events-actions.tsx'
import { NoEvents, NoMatch, NothingHappened } from './events-states.tsx'
import { EventsTable } from './events-table.tsx'
import { countRows, type FeedEvent } from './feed.ts'
import { useKindFilter } from './kind-filter.tsx'
import { LiveBar, WaitingEvents } from './live-bar.tsx'
import { usePause } from './pause.ts'
import {
  type EventKind,
  type EventsSearch,
  eventKinds,
  isFilteredList,
  listQuery,
  liveMode,
  parseEventsSearch,
} from './search.ts'
import { useLiveEvents } from './use-live-events.ts'
import { VisitorsNow } from './visitors-now.tsx'

const CellMenu = lazy(async () => ({ default: (await import('./cell-menu.tsx')).CellMenu }))
const EventDrawer = lazy(async () => ({ default: (await import('./event-drawer.tsx')).EventDrawer }))
const route = getRouteApi('/$workspace/events')

/** Clicks, leads and sales as they arrive. */
export function EventsPage() {
  const { can, plan } = useWorkspace()
  const moment = useMoment()
  if (!can('analytics.read')) {
    return (
      <Withheld page={<Trans>Events</Trans>} title={<Trans>Your role shows no events</Trans>}>
        <Trans>To see clicks, leads and sales, ask an owner for another role.</Trans>
      </Withheld>
    )
  }
  if (!includesEvents(plan)) {
    return (
      <Withheld page={<Trans>Events</Trans>} title={<Trans>Events need the business plan</Trans>}>
        <Trans>
          Single clicks, leads and sales are part of the business plan and higher ones. The operator changes the plan.
        </Trans>
      </Withheld>
    )
  }
  if (moment) return <Events moment={moment} />
  return (
    <Page title={<Trans>Events</Trans>}>
      <Panel>
        <RowsLoading />
      </Panel>
    </Page>
  )
}

function Events({ moment }: { moment: Moment }) {
  const { t } = useLingui()
  const given = route.useSearch()
  const search = useMemo(() => parseEventsSearch(given), [given])
  const navigate = route.useNavigate()
  const change = useCallback(
    (changed: Partial<EventsSearch>) =>
      void navigate({ search: (before: EventsSearch) => ({ ...before, ...changed }), resetScroll: false }),
    [navigate],
  )
  const kind = search.event ?? 'clicks'
  const show = (chosen: EventKind) => change({ event: chosen === 'clicks' ? undefined : chosen })
  const [opened, setOpened] = useState<FeedEvent>()
  const [cell, setCell] = useState<OpenCell>()
  const pause = usePause(opened !== undefined || cell !== undefined)
  const events = useLiveEvents(listQuery(search, moment), liveMode(search, moment), pause.reason !== undefined)
  const { feed, live, key, error, isStale } = events
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows come and go with the list
  useEffect(() => pause.checkFocus(), [feed, pause.checkFocus])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins at its first row
  useEffect(() => {
    scrollTo(0, 0)
  }, [key])
  const { data: preferences, isPending: isChoosing } = useOperation('getPreferences', {}, { staleTime: 300_000 })
  const preferred = preferences?.screens.events.columns
  const columns = useMemo(() => chooseColumns(kind, preferred), [kind, preferred])
  const isDense = preferences?.density === 'dense'
  const filters = [useKindFilter(search, change), ...useEventFilters(search, change, moment)].filter(
    ({ id }) => id !== 'saleType' || kind === 'sales',
  )
  const [openFilter, setOpenFilter] = useState<string>()
  const onRange = useCallback((first: number, last: number) => live?.setRange(first, last), [live])
  const toggle = () => pause.setChosen(!pause.isChosen)
  const showNew = () => {
    scrollTo(0, 0)
    live?.showNew()
  }
  useCommands([
    { id: 'events.pause', name: pause.isChosen ? t`Resume the list` : t`Pause the list`, keys: 'Space', run: toggle },
    { id: 'events.new', name: t`Show new events`, keys: 'n', run: showNew },
    { id: 'events.filter', name: t`Filter events`, keys: 'f', run: () => setOpenFilter(filterList) },
    { id: 'events.next', name: t`Next event`, keys: 'j', isOnlyKey: true, run: () => focusRow(1) },
    { id: 'events.previous', name: t`Previous event`, keys: 'k', isOnlyKey: true, run: () => focusRow(-1) },
    ...eventKinds.map((one, index) => ({
      id: `events.${one}`,
      name: t(kindNames[one]),
      keys: String(index + 1),
      run: () => show(one),
    })),
  ])
  const isOver = !reachesNow(search.period ?? defaultPeriod, moment)
  const showLastDays = () => change({ period: undefined })
  const isEmpty = feed !== undefined && countRows(feed) === 0 && !isStale
  return (
    <Page
      title={<Trans>Events</Trans>}
      actions={
        <>
          <VisitorsNow search={search} />
          <EventsActions {...{ search, change, moment, isDense }} names={columns.names} />
        </>
      }
    >
      <div className="flex flex-wrap items-start gap-x-3">
        <div className="min-w-0 flex-1 max-md:basis-full">
          <FilterBar filters={filters} open={openFilter} onOpen={setOpenFilter}>
            <Segments
              label={t`Kind of events`}
              options={eventKinds.map((one) => ({ value: one, name: t(kindNames[one]) }))}
              value={kind}
              onChoose={show}
            />
          </FilterBar>
        </div>
        <LiveBar state={events.state} reason={pause.reason} isChosen={pause.isChosen} onToggle={toggle} />
      </div>
      <div {...pause.handlers}>
        <WaitingEvents count={events.waiting} isMore={events.isMore} onShow={showNew} />
        <Panel>
          {error && !feed ? (
            <ErrorMessage error={error} retry={() => live?.refresh()} />
          ) : !feed || isChoosing ? (
            <RowsLoading />
          ) : isEmpty ? (
            isFilteredList(search) ? (
              <NoMatch
                onClear={() => void navigate({ search: search.event ? { event: search.event } : {} })}
                onShowLastDays={isOver ? showLastDays : undefined}
              />
            ) : isOver ? (
              <NothingHappened kind={kind} onShowLastDays={showLastDays} />
            ) : (
              <NoEvents kind={kind} />
            )
          ) : (
            <EventsTable
              {...{ kind, feed, isDense, onRange, ...columns }}
              isDimmed={isStale}
              timeZone={moment.timeZone}
              onOpen={setOpened}
              onCell={setCell}
            />
          )}
        </Panel>
      </div>
      <Suspense>{cell && <CellMenu {...{ cell, search, change }} onClose={() => setCell(undefined)} />}</Suspense>
      <Suspense>
        {opened && <EventDrawer event={opened} timeZone={moment.timeZone} onClose={() => setOpened(undefined)} />}
      </Suspense>
    </Page>
  )
}
