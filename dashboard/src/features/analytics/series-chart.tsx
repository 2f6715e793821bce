import { Trans, useLingui } from '@lingui/react/macro'
import { Suspense, useState } from 'react'
import { lazyPart } from '../../app/lazy-part.ts'
import { BarChart } from '../../charts/bar-chart.tsx'
import { LineChart } from '../../charts/line-chart.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { useNotes } from '../notes/queries.ts'
import type { ChartKind } from './analytics-search.ts'
import { bucketDay, bucketUnit, formatBucket } from './buckets.ts'
import { chartNotes } from './chart-notes.ts'
import type { Row } from './dimensions.ts'
import { type Measure, measureColor, useMeasureFormat, useTickFormat } from './measures.ts'
import { measureNames } from './names.ts'
import { type Comparison, defaultPeriod, type Moment, type Period, periodDays, reachesNow } from './periods.ts'

const NotesDialog = lazyPart(['notes'], async () => (await import('../notes/notes-dialog.tsx')).NotesDialog)

type Props = {
  measure: Measure
  kind: ChartKind
  period: Period | undefined
  series: readonly Row[]
  before: readonly Row[] | undefined
  comparison: Comparison | undefined
  moment: Moment
}

/** One measure by hour, day or month, beside the period it is compared with. */
export function SeriesChart({ measure, kind, period = defaultPeriod, series, before, comparison, moment }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const format = useMeasureFormat(measure)
  const formatTick = useTickFormat(measure)
  const starts = series.map(({ start }) => String(start))
  const unit = bucketUnit(starts)
  const points = (rows: readonly Row[]) =>
    rows.map((row) => ({
      name: formatBucket(String(row.start), unit, locale, moment),
      value: row[measure],
    }))
  const notes = useNotes(periodDays(period, moment))
  const [noted, setNoted] = useState<string>()
  const name = t(measureNames[measure])
  const total = format(series.reduce((sum, row) => sum + row[measure], 0))
  const units = {
    hour: t`${name} by hour: ${total} in all`,
    day: t`${name} by day: ${total} in all`,
    month: t`${name} by month: ${total} in all`,
  }
  const Chart = kind === 'bars' ? BarChart : LineChart
  return (
    <>
      <Chart
        points={points(series)}
        description={units[unit]}
        columns={[<Trans key="time">Time</Trans>, name]}
        format={format}
        formatTick={formatTick}
        height={240}
        className={measureColor(measure)}
        partial={reachesNow(period, moment)}
        notes={chartNotes(notes, starts, unit)}
        onChoose={(index) => setNoted(bucketDay(starts[index] ?? ''))}
        {...(before && {
          comparison: {
            points: points(before),
            name: comparison === 'year' ? t`The year before` : t`The period before`,
          },
        })}
      />
      <Suspense>{noted && <NotesDialog day={noted} onClose={() => setNoted(undefined)} />}</Suspense>
    </>
  )
}
