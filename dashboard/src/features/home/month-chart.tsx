import { Trans, useLingui } from '@lingui/react/macro'
import { LineChart } from '../../charts/line-chart.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatDay, formatShort } from '../../ui/format.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { type Counts, type Measure, measureColor, measureNames, useMeasureFormat } from './measures.ts'

type Props = { series: readonly (Counts & { start?: unknown })[]; measure: Measure; timeZone: string }

/** One measure by day, of the last 30 days. */
export function MonthChart({ series, measure, timeZone }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const { currency } = useWorkspaceSettings()
  const format = useMeasureFormat(measure)
  const points = series.map((row) => ({
    name: formatDay(String(row.start), locale, timeZone),
    value: row[measure],
  }))
  const name = t(measureNames[measure])
  const total = format(points.reduce((sum, { value }) => sum + value, 0))
  const formatTick = (value: number) =>
    measure === 'saleAmount' ? formatTickMoney(value, currency, locale) : formatShort(value, locale)
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
        className={measureColor(measure)}
      />
    </div>
  )
}

function formatTickMoney(amount: number, currency: string, locale: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, notation: 'compact' })
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return format.format(amount / 10 ** digits)
}
