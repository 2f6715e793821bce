import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { ArrowUpRight, Map as MapIcon } from 'lucide-react'
import { lazy, type RefCallback, Suspense, useCallback, useMemo, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type AnalyticsSearch, type ChangeAnalytics, chooseDimension, chosenDimension } from './analytics-search.ts'
import { CardRows } from './card-rows.tsx'
import { CardTabs } from './card-tabs.tsx'
import { type ComparedRow, compareRows, orderRows } from './compare-rows.ts'
import { type CardName, cards, type Row, rowFilter } from './dimensions.ts'
import type { FilterName } from './event-search.ts'
import { useLastCurrent } from './last-current.ts'
import { useMeasureFormat } from './measures.ts'
import { cardTexts, dimensionTexts } from './names.ts'
import type { Moment } from './periods.ts'
import { type Figures, type pageQueries, rowLimit, useRows } from './queries.ts'
import { useValueText } from './value-text.ts'

const CountryMap = lazy(async () => ({ default: (await import('./country-map.tsx')).CountryMap }))
const AllValues = lazy(async () => ({ default: (await import('./all-values.tsx')).AllValues }))

export type CardProps = {
  card: CardName
  search: AnalyticsSearch
  change: ChangeAnalytics
  toggle(name: FilterName, value: string, isExcluded: boolean): void
  moment: Moment
  now: Figures
  before: Figures
  queries: ReturnType<typeof pageQueries>
  panel?: RefCallback<HTMLElement> | undefined
}

const shownRows = 7

/** The highest values of a dimension. A row filters the page by itself. */
export function Card({ card, search, change, toggle, moment, now, before, queries, panel }: CardProps) {
  const { t } = useLingui()
  const { measure = 'clicks', compare, order = 'highest' } = search
  const dimension = chosenDimension(card, search.tabs)
  const limit = rowLimit(search)
  const asked = { dimension, measure, limit }
  const current = useRows(queries.now, now, asked)
  const past = useRows(queries.before, before, asked)
  const [isOpen, setOpen] = useState(false)
  const title = t(cardTexts[card])
  const format = useMeasureFormat(measure)
  const isMap = dimension === 'countries' && search.map === true
  const isStale = current.isStale || past.isStale
  const ordered = compare ? order : 'highest'
  const earlier = compare ? past.rows : undefined
  const rows = useMemo(() => {
    if (!current.rows) return undefined
    const compared = compareRows(dimension, { rows: current.rows, before: earlier, limit }, measure)
    return orderRows(compared, ordered).slice(0, shownRows)
  }, [dimension, current.rows, earlier, limit, measure, ordered])
  // Old rows are shares of the old total.
  const total = useLastCurrent(now.count?.[measure] ?? 0, isStale)
  const filter = useCallback(
    ({ row }: ComparedRow, isExcluded: boolean) => {
      const found = rowFilter(dimension, row)
      if (found) toggle(found.name, found.value, isExcluded)
    },
    [dimension, toggle],
  )
  return (
    <Panel ref={panel} className="flex min-h-76 min-w-0 flex-col pb-2">
      <header className="flex items-center gap-3 px-4 pt-2 pb-1">
        <CardTabs
          label={title}
          dimensions={cards[card]}
          chosen={dimension}
          onChoose={(one) => change({ tabs: chooseDimension(search.tabs, card, one) })}
        />
        {dimension === 'countries' && (
          <Button
            kind="quiet"
            size="icon"
            className="-my-1"
            aria-label={t`Map`}
            title={t`Map`}
            aria-pressed={isMap}
            onClick={() => change({ map: isMap ? undefined : true })}
          >
            <MapIcon size={14} strokeWidth={1.75} aria-hidden className={isMap ? 'text-accent' : ''} />
          </Button>
        )}
        <button
          type="button"
          aria-label={t`All: ${t(dimensionTexts[dimension])}`}
          onClick={() => setOpen(true)}
          className="ml-auto rounded-sm px-1 text-sm text-muted hover:text-ink max-md:min-h-11"
        >
          <Trans>All</Trans>
        </button>
      </header>
      <div aria-busy={isStale} className={isStale ? 'opacity-60' : ''}>
        {isMap ? (
          <Suspense fallback={<RowsLoading />}>
            <CountryMap {...{ search, change }} query={queries.now} />
          </Suspense>
        ) : rows ? (
          <CardRows
            dimension={dimension}
            rows={rows}
            measure={measure}
            total={total}
            isCompared={earlier !== undefined}
            order={ordered}
            format={format}
            onFilter={filter}
            {...(dimension === 'top_links' && { beside: openLink })}
          />
        ) : (
          <RowsLoading />
        )}
      </div>
      <Suspense>
        {isOpen && <AllValues {...{ dimension, search, change, moment, title }} onClose={() => setOpen(false)} />}
      </Suspense>
    </Panel>
  )
}

const openLink = ({ key, row }: ComparedRow) => <OpenLink id={key} row={row} />

function OpenLink({ id, row }: { id: string; row: Row }) {
  const { t } = useLingui()
  const name = useValueText()('top_links', row)
  return (
    <Link
      from="/$workspace"
      to="/$workspace/links/$id"
      params={{ id }}
      aria-label={t`Open ${name}`}
      title={t`Open ${name}`}
      className="relative grid size-6 shrink-0 place-items-center rounded-sm text-muted opacity-0 group-hover:opacity-100 hover:text-ink focus-visible:opacity-100 max-md:hidden"
    >
      <ArrowUpRight size={14} strokeWidth={1.75} aria-hidden />
    </Link>
  )
}

function RowsLoading() {
  return (
    <div className="px-4">
      {['w-40', 'w-32', 'w-36', 'w-24', 'w-28'].map((width) => (
        <div key={width} className="flex h-8 items-center">
          <Skeleton className={width} />
        </div>
      ))}
    </div>
  )
}
