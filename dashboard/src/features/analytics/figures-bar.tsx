import { Trans, useLingui } from '@lingui/react/macro'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Change } from './change.tsx'
import { type Counts, type Measure, measureColor, measures } from './measures.ts'
import { measureNames } from './names.ts'

type Props = {
  now: Counts | undefined
  before: Counts | undefined
  isStale: boolean
  chosen: Measure
  onChoose(measure: Measure): void
  format(measure: Measure, value: number): string
  shown?: readonly Measure[]
}

/** Clicks, leads, sales and revenue of the period; the chosen one is drawn. */
export function FiguresBar({ now, before, isStale, chosen, onChoose, format, shown = measures }: Props) {
  const { t } = useLingui()
  return (
    <section
      aria-label={t`Totals`}
      className={`grid grid-cols-4 border-b max-md:grid-cols-2 ${isStale ? 'opacity-60' : ''}`}
    >
      {shown.map((measure) => (
        <button
          key={measure}
          type="button"
          aria-pressed={measure === chosen}
          onClick={() => onChoose(measure)}
          className="group flex min-w-0 flex-col items-start border-line px-4 py-3 text-left not-first:border-l hover:bg-hover aria-pressed:bg-accent-soft max-md:nth-[3]:border-l-0 max-md:nth-[n+3]:border-t"
        >
          <span className="flex items-center gap-2 text-sm text-muted group-aria-pressed:font-medium group-aria-pressed:text-ink">
            <span aria-hidden className={`size-2 rounded-full bg-current ${measureColor(measure)}`} />
            {t(measureNames[measure])}
          </span>
          {now ? (
            <span className="block max-w-full truncate text-xl font-medium tabular-nums">
              {format(measure, now[measure])}
            </span>
          ) : (
            <Skeleton className="my-2 h-5 w-20" />
          )}
          <span className="text-xs text-muted">
            {now && before && (
              <>
                {before[measure] !== 0 && <Change now={now[measure]} before={before[measure]} />}{' '}
                <Trans>from {format(measure, before[measure])}</Trans>
              </>
            )}
            {now && !before && <Rate measure={measure} count={now} money={(value) => format('saleAmount', value)} />}
          </span>
        </button>
      ))}
    </section>
  )
}

/** How a figure relates to the one before it. */
function Rate({ measure, count, money }: { measure: Measure; count: Counts; money(value: number): string }) {
  const { i18n } = useLingui()
  if (measure === 'leads') {
    if (count.clicks === 0) return null
    return (
      <Trans>{i18n.number(count.leads / count.clicks, { style: 'percent', maximumFractionDigits: 1 })} of clicks</Trans>
    )
  }
  if (measure === 'sales') {
    if (count.leads === 0) return null
    // No share: customers buy again.
    return <Trans>{i18n.number(count.sales / count.leads, { maximumFractionDigits: 2 })} per lead</Trans>
  }
  if (measure === 'saleAmount') {
    if (count.clicks === 0) return null
    return <Trans>{money(Math.round(count.saleAmount / count.clicks))} a click</Trans>
  }
  return null
}
