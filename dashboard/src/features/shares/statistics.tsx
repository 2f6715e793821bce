import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useLastCurrent } from '../analytics/last-current.ts'
import type { Measure } from '../analytics/measures.ts'
import { SharedCards } from './shared-cards.tsx'
import { SharedChart } from './shared-chart.tsx'
import { FilterChips, OwnerFilters } from './shared-filters.tsx'
import { SharedPeriod } from './shared-period.tsx'
import { isUnfinished } from './shared-search.ts'
import { useSharedSearch } from './use-shared-search.ts'
import { type SharedPage, useStatistics } from './visit.ts'

/** Figures, chart and cards of a shared page; read-only, with a period and filters that the address keeps. */
export function Statistics({ page, title }: { page: SharedPage; title: string | undefined }) {
  const [search, setSearch] = useSharedSearch()
  const [measure, setMeasure] = useState<Measure>('clicks')
  const moment = { now: new Date(), timeZone: page.timezone, weekStart: page.weekStart }
  const { data, error, isPlaceholderData, refetch } = useStatistics(search, moment)
  const isPartial = useLastCurrent(isUnfinished(page, search, moment), isPlaceholderData)
  return (
    <main className="mx-auto max-w-275 px-3.5 pt-3.5 pb-10 md:px-7 md:pt-6">
      <header className="mb-4 flex flex-wrap items-center gap-2">
        <div className="mr-auto min-w-0">
          <h1 className="wrap-anywhere">
            <bdi>{title ?? <Trans>Shared statistics</Trans>}</bdi>
          </h1>
          {page.title !== null && page.shortLink !== null && (
            <p className="text-sm wrap-anywhere text-muted">
              <bdi>{page.shortLink.replace(/^https?:\/\//, '')}</bdi>
            </p>
          )}
        </div>
        <SharedPeriod page={page} moment={moment} search={search} onChange={setSearch} />
      </header>
      <OwnerFilters filter={page.filter} />
      <FilterChips search={search} onChange={setSearch} />
      {error && (
        <div className="mb-3">
          <Notice
            action={
              <Button onClick={() => void refetch()}>
                <Trans>Try again</Trans>
              </Button>
            }
          >
            <Trans>The figures did not load: {error.message}</Trans>
          </Notice>
        </div>
      )}
      <div aria-busy={isPlaceholderData} className={isPlaceholderData ? 'opacity-60' : ''}>
        {data ? (
          <>
            <SharedChart {...{ page, data, moment, measure, isPartial }} onMeasure={setMeasure} />
            <SharedCards {...{ page, data, search, measure }} onChange={setSearch} />
          </>
        ) : (
          !error && <StatisticsLoading />
        )}
      </div>
      <footer className="mt-6 text-xs text-muted">
        <Trans>Days and hours are those of {page.timezone}. Bots are not counted.</Trans>
      </footer>
    </main>
  )
}

function StatisticsLoading() {
  return (
    <Panel className="flex h-75 flex-col gap-3 p-4">
      <span role="status" className="sr-only">
        <Trans>Loading</Trans>
      </span>
      <Skeleton className="w-16" />
      <Skeleton className="h-7 w-24" />
    </Panel>
  )
}
