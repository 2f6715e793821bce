import { Trans, useLingui } from '@lingui/react/macro'
import { LineChart } from '../../charts/line-chart.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatDay } from '../../ui/format.ts'
import { type Counts, type Measure, measureColor, useMeasureFormat, useTickFormat } from '../analytics/measures.ts'
import { measureNames } from './measure-names.ts'

type Props = { series: readonly (Counts & { start?: unknown })[]; measure: Measure; timeZone: string }

/** One measure by day, of the last 30 days. */
export function MonthChart({ series, measure, timeZone }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const format = useMeasureFormat(measure)
  const points = series.map((row) => ({
    name: formatDay(String(row.start), locale, timeZone),
    value: row[measure],
  }))
  const name = t(measureNames[measure])
  const total = format(points.reduce((sum, { value }) => sum + value, 0))
  const formatTick = useTickFormat(measure)
  return (
    <div className="px-4 py-3">
      <h2 className="mb-2 flex items-baseline gap-2">
        <Trans>
          {name}, last 30 days <span className="font-normal text-muted">{total} in all</span>
        </Trans>
      </h2>
      <LineChart
        points={points}
        description={t`${name} by day, last 30 days: ${total} in all`}
        columns={[<Trans key="day">Day</Trans>, name]}
        format={format}
        formatTick={formatTick}
        partial
        className={measureColor(measure)}
      />
    </div>
  )
}
