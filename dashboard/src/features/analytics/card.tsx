import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { ArrowUpRight, Map as MapIcon } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type AnalyticsSearch, type ChangeAnalytics, chooseDimension, chosenDimension } from './analytics-search.ts'
import { CardRows } from './card-rows.tsx'
import { CardTabs } from './card-tabs.tsx'
import { type ComparedRow, compareRows, orderRows } from './compare-rows.ts'
import { type CardName, cards, rowFilter } from './dimensions.ts'
import { toggleValue } from './filter-values.ts'
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
  moment: Moment
  now: Figures
  before: Figures
  queries: ReturnType<typeof pageQueries>
}

const shownRows = 7

/** The highest values of a dimension. A row filters the page by itself. */
export function Card({ card, search, change, moment, now, before, queries }: CardProps) {
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
  const text = useValueText()
  const isMap = dimension === 'countries' && search.map === true
  const rows =
    current.rows &&
    orderRows(
      compareRows(dimension, { rows: current.rows, before: compare ? past.rows : undefined, limit }, measure),
      compare ? order : 'highest',
    )
  const filter = (row: ComparedRow, isExcluded: boolean) => {
    const found = rowFilter(dimension, row.row)
    if (found) change({ [found.name]: toggleValue(search[found.name], found.value, isExcluded) })
  }
  return (
    <Panel className="flex min-h-76 min-w-0 flex-col pb-2">
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
      <div className={current.isStale || past.isStale ? 'opacity-60' : ''}>
        {isMap ? (
          <Suspense fallback={<RowsLoading />}>
            <CountryMap {...{ search, change }} query={queries.now} />
          </Suspense>
        ) : rows ? (
          <CardRows
            dimension={dimension}
            rows={rows.slice(0, shownRows)}
            measure={measure}
            total={now.count?.[measure] ?? 0}
            isCompared={compare !== undefined && past.rows !== undefined}
            order={compare ? order : 'highest'}
            format={format}
            onFilter={filter}
            {...(dimension === 'top_links' && {
              beside: ({ key, row }) => <OpenLink id={key} name={text(dimension, row)} />,
            })}
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

function OpenLink({ id, name }: { id: string; name: string }) {
  const { t } = useLingui()
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
