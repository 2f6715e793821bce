import { Trans, useLingui } from '@lingui/react/macro'
import { Skeleton } from '../../ui/skeleton.tsx'
import { relativeChange } from '../analytics/compare-rows.ts'
import { type Counts, type Measure, measureColor, measures, useMeasureFormat } from '../analytics/measures.ts'
import { measureNames } from './measure-names.ts'

type Props = { now: Counts | undefined; before: Counts | undefined; chosen: Measure; onChoose(measure: Measure): void }

/** Today's figures beside the same hours of last week. Each shows its own chart. */
export function TodayFigures({ now, before, chosen, onChoose }: Props) {
  const { t } = useLingui()
  return (
    <section aria-label={t`Today`} className="grid grid-cols-4 border-b max-md:grid-cols-2">
      {measures.map((measure) => (
        <button
          key={measure}
          type="button"
          aria-pressed={measure === chosen}
          onClick={() => onChoose(measure)}
          className="group flex min-w-0 flex-col items-start border-line px-4 py-3 text-left not-first:border-l hover:bg-hover max-md:nth-[3]:border-l-0 max-md:nth-[n+3]:border-t"
        >
          <span className="flex items-center gap-2 text-sm text-muted group-aria-pressed:font-medium group-aria-pressed:text-ink">
            <span aria-hidden className={`size-2 rounded-full bg-current ${measureColor(measure)}`} />
            <Trans>{t(measureNames[measure])} today</Trans>
          </span>
          {now ? (
            <span className="block text-xl font-medium">
              <Figure measure={measure} value={now[measure]} />
            </span>
          ) : (
            <Skeleton className="my-2 h-5 w-20" />
          )}
          {now && before && <Comparison measure={measure} now={now[measure]} before={before[measure]} />}
        </button>
      ))}
    </section>
  )
}

function Comparison({ measure, now, before }: { measure: Measure; now: number; before: number }) {
  const { i18n, t } = useLingui()
  const change = relativeChange(now, before)
  const share =
    change === undefined
      ? ''
      : i18n.number(change, { style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 0 })
  return (
    <span className="text-xs text-muted" title={t`The same hours of last week`}>
      {share && <span className={change === 0 ? '' : 'font-medium text-ink'}>{share} </span>}
      <Trans>
        <Figure measure={measure} value={before} /> a week ago
      </Trans>
    </span>
  )
}

function Figure({ measure, value }: { measure: Measure; value: number }) {
  return useMeasureFormat(measure)(value)
}
