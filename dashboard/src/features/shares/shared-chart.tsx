import { Trans, useLingui } from '@lingui/react/macro'
import { LineChart } from '../../charts/line-chart.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { bucketUnit, formatBucket } from '../analytics/buckets.ts'
import { FiguresBar } from '../analytics/figures-bar.tsx'
import { type Measure, measureColor } from '../analytics/measures.ts'
import { measureNames } from '../analytics/names.ts'
import type { Moment } from '../analytics/periods.ts'
import { formatShared, readCounts, shownMeasures } from './shared-format.ts'
import type { SharedPage, SharedStatistics } from './visit.ts'

type Props = {
  page: SharedPage
  data: SharedStatistics
  moment: Moment
  measure: Measure
  /** Whether the last value is not complete yet. */
  isPartial: boolean
  onMeasure(measure: Measure): void
}

/** The totals of the period, and the chosen one over time. A page without conversions has only clicks. */
export function SharedChart({ page, data, moment, measure, isPartial, onMeasure }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const series = data.timeseries?.map((row) => ({ start: row.start ?? '', ...readCounts(row) })) ?? []
  const unit = bucketUnit(series.map(({ start }) => start))
  const count = data.count && readCounts(data.count)
  const format = (one: Measure, value: number) => formatShared(one, value, page, locale)
  const name = t(measureNames[measure])
  const total = format(measure, count?.[measure] ?? 0)
  return (
    <Panel className="mb-4">
      <FiguresBar
        now={count}
        before={undefined}
        isStale={false}
        chosen={measure}
        onChoose={onMeasure}
        format={format}
        shown={shownMeasures(page)}
      />
      <div className="px-4 py-3">
        <LineChart
          points={series.map((row) => ({
            name: formatBucket(row.start, unit, locale, moment),
            value: row[measure],
          }))}
          description={t`${name} over time: ${total} in all`}
          columns={[<Trans key="time">Time</Trans>, name]}
          format={(value) => format(measure, value)}
          formatTick={(value) => formatShared(measure, value, page, locale, true)}
          height={240}
          partial={isPartial}
          className={measureColor(measure)}
        />
      </div>
    </Panel>
  )
}
