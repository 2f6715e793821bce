import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { FilterBar, filterList } from '../../ui/filter-bar.tsx'
import { useInView } from '../../ui/in-view.ts'
import { Page, Panel } from '../../ui/page.tsx'
import { Withheld } from '../../ui/withheld.tsx'
import { includesAnalytics } from './access.ts'
import { AnalyticsActions } from './analytics-actions.tsx'
import { AnalyticsLoading } from './analytics-loading.tsx'
import { type AnalyticsSearch, chosenDimension, parseAnalyticsSearch } from './analytics-search.ts'
import { Card } from './card.tsx'
import { ChartPanel } from './chart-panel.tsx'
import { cardNames } from './dimensions.ts'
import { EmptyPeriod, hasNoEvents } from './empty-period.tsx'
import { useEventFilters } from './event-filters.tsx'
import { type FilterName, readText } from './event-search.ts'
import { toggleValue } from './filter-values.ts'
import type { Moment } from './periods.ts'
import { isLive, pageQueries, rowLimit, useFigures, useMoment } from './queries.ts'

/** Cards beside each other on a wide screen, which has no room for a second line of them. */
const cardsInLine = 3

const route = getRouteApi('/$workspace/analytics')

/** Which links, places and partners brought people and money. */
export function AnalyticsPage() {
  const { can, plan } = useWorkspace()
  const moment = useMoment()
  if (!can('analytics.read')) {
    return (
      <Withheld page={<Trans>Analytics</Trans>} title={<Trans>Your role shows no figures</Trans>}>
        <Trans>To see clicks, leads and sales, ask an owner for another role.</Trans>
      </Withheld>
    )
  }
  if (!includesAnalytics(plan)) {
    return (
      <Withheld page={<Trans>Analytics</Trans>} title={<Trans>Analytics need the pro plan</Trans>}>
        <Trans>The list of links counts all clicks, leads and sales of each link. The operator changes the plan.</Trans>
      </Withheld>
    )
  }
  return moment ? <Analytics moment={moment} /> : <AnalyticsLoading />
}

function Analytics({ moment }: { moment: Moment }) {
  const { t } = useLingui()
  const given = route.useSearch()
  const search = useMemo(() => parseAnalyticsSearch(given), [given])
  const navigate = route.useNavigate()
  const change = useCallback(
    (changed: Partial<AnalyticsSearch>) =>
      void navigate({ search: (before: AnalyticsSearch) => ({ ...before, ...changed }), resetScroll: false }),
    [navigate],
  )
  const toggle = useCallback(
    (name: FilterName, value: string, isExcluded: boolean) =>
      void navigate({
        search: (before: AnalyticsSearch) => ({
          ...before,
          [name]: toggleValue(readText(before[name]), value, isExcluded),
        }),
        resetScroll: false,
      }),
    [navigate],
  )
  const shown = useShownCards()
  const [lower, isLowerInView] = useInView()
  const measure = search.measure ?? 'clicks'
  const limit = rowLimit(search)
  const chosen = shown.map((card) => chosenDimension(card, search.tabs))
  const upper = isLowerInView ? chosen.length : cardsInLine
  const dimensions = { first: chosen.slice(0, upper), later: chosen.slice(upper) }
  const queries = useMemo(() => pageQueries(search, moment), [search, moment])
  const shared = { measure, limit, dimensions }
  const now = useFigures(queries.now, { ...shared, isLive: isLive(search, moment) })
  const before = useFigures(queries.before, { ...shared, isLive: false })
  // A comparison has rows of the period before.
  const isEmpty = now.count !== undefined && hasNoEvents(now.count) && !search.compare
  const filters = useEventFilters(search, change, moment)
  const [openFilter, setOpenFilter] = useState<string>()
  useCommands([{ id: 'analytics.filter', name: t`Filter figures`, keys: 'f', run: () => setOpenFilter(filterList) }])
  return (
    <Page title={<Trans>Analytics</Trans>} actions={<AnalyticsActions {...{ search, change, moment }} />}>
      <FilterBar filters={filters} open={openFilter} onOpen={setOpenFilter} />
      {now.error && !now.count ? (
        <Panel>
          <ErrorMessage error={now.error} retry={now.refetch} />
        </Panel>
      ) : (
        <div className="flex flex-col gap-4">
          <ChartPanel {...{ search, change, moment, now, before }} />
          {isEmpty ? (
            <EmptyPeriod {...{ search, change }} />
          ) : (
            <div className="grid grid-cols-1 gap-4 md:grid-cols-2 xl:grid-cols-3">
              {shown.map((card, index) => (
                <Card
                  key={card}
                  card={card}
                  {...{ search, change, toggle, moment, now, before, queries }}
                  {...(index === cardsInLine && { panel: lower })}
                />
              ))}
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

/** Partners have their card where there is a program. */
function useShownCards() {
  const { can } = useWorkspace()
  const isAllowed = can('partners.read')
  const { data: programs } = useOperation('listPrograms', {}, { enabled: isAllowed, staleTime: 300_000 })
  const hasPartners = isAllowed && programs !== undefined && programs.length > 0
  return cardNames.filter((card) => card !== 'partners' || hasPartners)
}
