import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useLocale } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { CardRows } from '../analytics/card-rows.tsx'
import { CardTabs } from '../analytics/card-tabs.tsx'
import { compareRows, orderRows } from '../analytics/compare-rows.ts'
import { type Dimension, type Row, rowFilter } from '../analytics/dimensions.ts'
import type { Measure } from '../analytics/measures.ts'
import { cardTexts } from '../analytics/names.ts'
import { formatShared, readCounts } from './shared-format.ts'
import { type SharedFilter, type SharedSearch, toggleFilter } from './shared-search.ts'
import type { SharedPage, SharedStatistics } from './visit.ts'

type Shown = Extract<Dimension, keyof SharedStatistics>
/** The cards of the page: only dimensions that reveal nothing about a single visitor. */
const cards = {
  locations: ['countries', 'continents'],
  sources: ['referers'],
  devices: ['devices', 'browsers', 'os', 'triggers'],
} as const satisfies Partial<Record<keyof typeof cardTexts, readonly Shown[]>>
type CardName = keyof typeof cards

const fewRows = 7
const limit = 100

type Props = {
  page: SharedPage
  data: SharedStatistics
  search: SharedSearch
  measure: Measure
  onChange(next: SharedSearch): void
}

/** Where the clicks came from. A row filters the page by itself. */
export function SharedCards(props: Props) {
  return (
    <div className="grid grid-cols-1 gap-4 md:grid-cols-2 lg:grid-cols-3">
      {(Object.keys(cards) as CardName[]).map((card) => (
        <SharedCard key={card} card={card} {...props} />
      ))}
    </div>
  )
}

function SharedCard({ card, page, data, search, measure, onChange }: Props & { card: CardName }) {
  const { t } = useLingui()
  const locale = useLocale()
  const [dimension, setDimension] = useState<Shown>(cards[card][0])
  const [isWhole, setWhole] = useState(false)
  const listed = (data[dimension] ?? []).map((row) => ({ ...row, ...readCounts(row) })) as Row[]
  const rows = orderRows(compareRows(dimension, { rows: listed, before: undefined, limit }, measure), 'highest')
  return (
    <Panel className="flex min-h-76 min-w-0 flex-col pb-2">
      <header className="flex items-center gap-3 px-4 pt-2 pb-1">
        <CardTabs
          label={t(cardTexts[card])}
          dimensions={cards[card]}
          chosen={dimension}
          onChoose={(one) => setDimension(one as Shown)}
        />
      </header>
      <div className="max-h-120 overflow-y-auto">
        <CardRows
          dimension={dimension}
          rows={isWhole ? rows : rows.slice(0, fewRows)}
          measure={measure}
          total={data.count?.[measure] ?? 0}
          isCompared={false}
          order="highest"
          format={(value) => formatShared(measure, value, page, locale)}
          onFilter={({ row }, isExcluded) => {
            const found = rowFilter(dimension, row)
            if (found) onChange(toggleFilter(search, found.name as SharedFilter, found.value, isExcluded))
          }}
        />
      </div>
      {rows.length > fewRows && (
        <button
          type="button"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
          className="mx-4 mt-auto self-start rounded-sm pt-1 text-sm text-muted hover:text-ink max-md:min-h-11"
        >
          {isWhole ? <Trans>Show fewer</Trans> : <Trans>Show all {rows.length}</Trans>}
        </button>
      )}
    </Panel>
  )
}
