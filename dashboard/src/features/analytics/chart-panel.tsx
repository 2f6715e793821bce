import { useLingui } from '@lingui/react/macro'
import { ChartColumn, ChartLine, Filter } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Panel } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { AnalyticsSearch, ChangeAnalytics } from './analytics-search.ts'
import { FiguresBar } from './figures-bar.tsx'
import { useMeasureFormat } from './measures.ts'
import type { Moment } from './periods.ts'
import type { Figures } from './queries.ts'

const FunnelChart = lazy(async () => ({ default: (await import('./funnel-chart.tsx')).FunnelChart }))
const SeriesChart = lazy(async () => ({ default: (await import('./series-chart.tsx')).SeriesChart }))

type Props = {
  search: AnalyticsSearch
  change: ChangeAnalytics
  moment: Moment
  now: Figures
  before: Figures
}

/** The totals of the period, each of which shows its own chart, and the chart. */
export function ChartPanel({ search, change, moment, now, before }: Props) {
  const { t } = useLingui()
  const { measure = 'clicks', chart = 'line' } = search
  const [count, money] = [useMeasureFormat('clicks'), useMeasureFormat('saleAmount')]
  const isStale = now.isStale || before.isStale
  const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true } as const
  return (
    <Panel>
      <FiguresBar
        now={now.count}
        before={before.count}
        isStale={now.isStale}
        chosen={measure}
        onChoose={(measure) => change({ measure: measure === 'clicks' ? undefined : measure })}
        format={(measure, value) => (measure === 'saleAmount' ? money : count)(value)}
      />
      <div aria-busy={isStale} className={`relative px-4 pt-3 pb-3 transition-opacity ${isStale ? 'opacity-60' : ''}`}>
        <Segments
          label={t`Chart`}
          className="mb-2"
          options={[
            { value: 'line', name: t`Line`, content: <ChartLine {...icon} /> },
            { value: 'bars', name: t`Bars`, content: <ChartColumn {...icon} /> },
            { value: 'funnel', name: t`Funnel`, content: <Filter {...icon} /> },
          ]}
          value={chart}
          onChoose={(value) => change({ chart: value === 'line' ? undefined : value })}
        />
        <Suspense fallback={<Skeleton className="h-60 w-full" />}>
          {!now.series || !now.count ? (
            <Skeleton className="h-60 w-full" />
          ) : chart === 'funnel' ? (
            <FunnelChart count={now.count} />
          ) : (
            <SeriesChart
              {...{ measure, moment, kind: chart }}
              period={search.period}
              isStale={now.isStale}
              series={now.series}
              before={search.compare ? before.series : undefined}
              comparison={search.compare}
            />
          )}
        </Suspense>
      </div>
    </Panel>
  )
}
