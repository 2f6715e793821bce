import { Trans, useLingui } from '@lingui/react/macro'
import { FilterX } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { Change } from './change.tsx'
import type { ComparedRow, RowOrder } from './compare-rows.ts'
import { type Dimension, rowFilter } from './dimensions.ts'
import type { Measure } from './measures.ts'
import { dimensionTexts, measureNames } from './names.ts'
import { useValueText } from './value-text.ts'

type Props = {
  dimension: Dimension
  rows: readonly ComparedRow[]
  measure: Measure
  total: number
  isCompared: boolean
  order: RowOrder
  format(value: number): string
  onFilter(row: ComparedRow, isExcluded: boolean): void
  /** What stands beside the name of a row. */
  beside?(row: ComparedRow): ReactNode
}

/** Rows of a card with a bar each, relative to the highest; what fell or rose has its change instead of its share. */
export const CardRows = memo(function CardRows(props: Props) {
  const { dimension, rows, measure, total, isCompared, order, format, onFilter, beside } = props
  const { t, i18n } = useLingui()
  const text = useValueText()
  const most = Math.max(1, ...rows.map(({ value, before = 0 }) => Math.max(value, order === 'fell' ? before : 0)))
  if (rows.length === 0) return <NoRows order={order} />
  const share = (value: number) =>
    total === 0 ? '' : i18n.number(value / total, { style: 'percent', maximumFractionDigits: 1 })
  return (
    <table className="block w-full text-sm">
      <caption className="sr-only">{t(dimensionTexts[dimension])}</caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">
            <Trans>Value</Trans>
          </th>
          <th scope="col">{t(measureNames[measure])}</th>
          <th scope="col">{isCompared ? <Trans>Change</Trans> : <Trans>Share</Trans>}</th>
        </tr>
      </thead>
      <tbody className="block">
        {rows.map((row) => (
          <tr key={row.key} className="group relative flex h-8 items-center gap-3 px-4 max-md:h-11">
            <th scope="row" className="static flex min-w-0 flex-1 items-center gap-1 text-left font-normal">
              <span
                aria-hidden
                className="absolute inset-y-0.5 left-2 rounded-sm bg-accent-soft"
                style={{ width: `calc(${(Math.max(0, row.value) / most) * 100}% - 16px)` }}
              />
              <RowName
                name={text(dimension, row.row)}
                canFilter={rowFilter(dimension, row.row) !== undefined}
                onFilter={(isExcluded) => onFilter(row, isExcluded)}
              />
              {beside?.(row)}
            </th>
            <td className="relative tabular-nums">{format(row.value)}</td>
            <td className="relative w-14 text-right text-xs text-muted tabular-nums">
              {isCompared
                ? row.before !== undefined && <Change now={row.value} before={row.before} />
                : share(row.value)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
})

type NameProps = { name: string; canFilter: boolean; onFilter(isExcluded: boolean): void }

function RowName({ name, canFilter, onFilter }: NameProps) {
  const { t } = useLingui()
  if (!canFilter) return <bdi className="relative min-w-0 truncate">{name}</bdi>
  return (
    <>
      <button
        type="button"
        title={name}
        onClick={() => onFilter(false)}
        className="relative min-w-0 truncate rounded-sm text-left hover:underline"
      >
        <span className="sr-only">
          <Trans>Only</Trans>{' '}
        </span>
        <bdi>{name}</bdi>
      </button>
      <button
        type="button"
        aria-label={t`Leave out ${name}`}
        title={t`Leave out ${name}`}
        onClick={() => onFilter(true)}
        className="relative grid size-6 shrink-0 place-items-center rounded-sm text-muted opacity-0 group-hover:opacity-100 hover:text-ink focus-visible:opacity-100 max-md:hidden"
      >
        <FilterX size={14} strokeWidth={1.75} aria-hidden />
      </button>
    </>
  )
}

function NoRows({ order }: { order: RowOrder }) {
  return (
    <p className="px-4 py-2 text-sm text-muted">
      {order === 'fell' ? (
        <Trans>Nothing fell.</Trans>
      ) : order === 'rose' ? (
        <Trans>Nothing rose.</Trans>
      ) : (
        <Trans>Nothing in this period.</Trans>
      )}
    </p>
  )
}
