import { Trans } from '@lingui/react/macro'
import { Suspense, useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Message } from '../../ui/message.tsx'
import { useMinute } from '../../ui/minute.ts'
import { Panel } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { includesAnalytics } from '../analytics/access.ts'
import type { Measure } from '../analytics/measures.ts'
import { useSeesEvents } from '../events/access.ts'
import { LatestEvents } from '../events/lazy-latest-events.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { MonthChart } from './month-chart.tsx'
import { homePeriods } from './periods.ts'
import { TodayFigures } from './today-figures.tsx'
import { TopCountries, TopLinks, TopSources } from './top-lists.tsx'

const todayMs = 10_000
const monthMs = 60_000

/** Today beside the same hours of last week, the last 30 days, where they came from, and what happens now. */
export function Overview() {
  const { can, plan } = useWorkspace()
  const seesEvents = useSeesEvents()
  const { timeZone } = useWorkspaceSettings()
  const [measure, setMeasure] = useState<Measure>('clicks')
  const { today, lastWeek, monthStart } = homePeriods(useMinute(), timeZone)
  const shared = { event: 'composite', timezone: timeZone } as const
  const enabled = can('analytics.read') && includesAnalytics(plan)
  const now = useOperation(
    'retrieveAnalyticsBatch',
    { body: { ...shared, groupBy: ['count'], start: today } },
    { enabled, refetchInterval: todayMs },
  )
  const before = useOperation(
    'retrieveAnalyticsBatch',
    { body: { ...shared, groupBy: ['count'], ...lastWeek } },
    { enabled: enabled && now.isFetched },
  )
  const groupBy = ['timeseries', 'top_links', 'referers', 'countries'] as const
  const month = useOperation(
    'retrieveAnalyticsBatch',
    { body: { ...shared, groupBy: [...groupBy], start: monthStart, limit: 5 } },
    { enabled, refetchInterval: monthMs },
  )
  if (!can('analytics.read')) return null
  if (!enabled) return <PlanMessage />
  const failed = [now, before, month].find(({ error, data }) => error && !data)
  if (failed) {
    return (
      <Panel>
        <ErrorMessage error={failed.error} retry={() => void failed.refetch()} />
      </Panel>
    )
  }
  const series = month.data?.timeseries
  const isEmpty = series?.every(({ clicks, leads, sales }) => clicks + leads + sales === 0)
  return (
    <>
      <Panel className={month.isPlaceholderData ? 'opacity-60' : ''}>
        <TodayFigures now={now.data?.count} before={before.data?.count} chosen={measure} onChoose={setMeasure} />
        {!series ? (
          <Skeleton className="m-4 h-50" />
        ) : isEmpty ? (
          <Message title={<Trans>No clicks in the last 30 days</Trans>}>
            <p>
              <Trans>Share a link, and each click appears here a second or two later.</Trans>
            </p>
          </Message>
        ) : (
          <MonthChart series={series} measure={measure} timeZone={timeZone} />
        )}
      </Panel>
      {month.data && !isEmpty && (
        <div className="grid gap-4 lg:grid-cols-3">
          <TopLinks rows={month.data.top_links ?? []} />
          <TopSources rows={month.data.referers ?? []} />
          <TopCountries rows={month.data.countries ?? []} />
        </div>
      )}
      <Suspense>{seesEvents && <LatestEvents />}</Suspense>
    </>
  )
}

function PlanMessage() {
  return (
    <Panel>
      <Message title={<Trans>Figures by day need the pro plan</Trans>}>
        <p>
          <Trans>
            The list of links counts all clicks, leads and sales of each link. The operator changes the plan.
          </Trans>
        </p>
      </Message>
    </Panel>
  )
}
