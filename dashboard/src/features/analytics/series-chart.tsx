import { Trans, useLingui } from '@lingui/react/macro'
import { memo, Suspense, useCallback, useMemo, useState } from 'react'
import { lazyPart } from '../../app/lazy-part.ts'
import { BarChart } from '../../charts/bar-chart.tsx'
import { LineChart } from '../../charts/line-chart.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { useNotes } from '../notes/queries.ts'
import type { ChartKind } from './analytics-search.ts'
import { bucketDay, bucketUnit, formatBucket } from './buckets.ts'
import { chartNotes } from './chart-notes.ts'
import type { Row } from './dimensions.ts'
import { useLastCurrent } from './last-current.ts'
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
  /** Whether the values are not yet those of the period. */
  isStale: boolean
}

/** One measure by hour, day or month, beside the period it is compared with, and the notes on it. */
export function SeriesChart({ period = defaultPeriod, series, moment, isStale, ...shown }: Props) {
  const isPartial = useLastCurrent(reachesNow(period, moment), isStale)
  const found = useNotes(periodDays(period, moment))
  const starts = useMemo(() => series.map(({ start }) => String(start)), [series])
  const text = JSON.stringify(chartNotes(found, starts, bucketUnit(starts)))
  // Equal notes of another period are no reason to draw the chart again.
  const notes = useMemo(() => JSON.parse(text) as ReturnType<typeof chartNotes>, [text])
  const [noted, setNoted] = useState<string>()
  const note = useCallback((index: number) => setNoted(bucketDay(starts[index] ?? '')), [starts])
  return (
    <>
      <Series {...shown} {...{ series, starts, moment, notes, isPartial }} onChoose={note} />
      <Suspense>{noted && <NotesDialog day={noted} onClose={() => setNoted(undefined)} />}</Suspense>
    </>
  )
}

type SeriesProps = Omit<Props, 'period' | 'isStale'> & {
  starts: readonly string[]
  notes: ReturnType<typeof chartNotes>
  isPartial: boolean
  onChoose(index: number): void
}

const Series = memo(function Series(props: SeriesProps) {
  const { measure, kind, series, before, comparison, moment, starts, notes, isPartial, onChoose } = props
  const { t } = useLingui()
  const locale = useLocale()
  const format = useMeasureFormat(measure)
  const formatTick = useTickFormat(measure)
  const unit = bucketUnit(starts)
  const points = (rows: readonly Row[]) =>
    rows.map((row) => ({
      name: formatBucket(String(row.start), unit, locale, moment),
      value: row[measure],
    }))
  const name = t(measureNames[measure])
  const total = format(series.reduce((sum, row) => sum + row[measure], 0))
  const units = {
    hour: t`${name} by hour: ${total} in all`,
    day: t`${name} by day: ${total} in all`,
    month: t`${name} by month: ${total} in all`,
  }
  const Chart = kind === 'bars' ? BarChart : LineChart
  return (
    <Chart
      points={points(series)}
      description={units[unit]}
      columns={[<Trans key="time">Time</Trans>, name]}
      format={format}
      formatTick={formatTick}
      height={240}
      className={measureColor(measure)}
      partial={isPartial}
      notes={notes}
      onChoose={onChoose}
      {...(before && {
        comparison: {
          points: points(before),
          name: comparison === 'year' ? t`The year before` : t`The period before`,
        },
      })}
    />
  )
})
