import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { saveCsv } from '../imports/csv.ts'
import { AllValuesList } from './all-values-list.tsx'
import type { AnalyticsSearch, ChangeAnalytics } from './analytics-search.ts'
import { type Dimension, dimensionFilter, type Row, rowFilter, rowKey } from './dimensions.ts'
import { eventsQuery } from './event-search.ts'
import { formatRows } from './export.ts'
import { formatValues, parseValues } from './filter-values.ts'
import { dimensionTexts } from './names.ts'
import type { Moment } from './periods.ts'
import { measuredEvent } from './queries.ts'
import { useValueText } from './value-text.ts'

type Props = {
  dimension: Dimension
  search: AnalyticsSearch
  change: ChangeAnalytics
  moment: Moment
  onClose(): void
}

/** All values of a dimension, whatever its own filter leaves out: to search in, to tick several, to export. */
export function AllValues({ dimension, search, change, moment, onClose }: Props) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const text = useValueText()
  const { measure = 'clicks' } = search
  const filter = useDimensionFilter(dimension, search)
  const [words, setWords] = useState('')
  const query = {
    ...eventsQuery({ ...search, ...(filter.name && { [filter.name]: undefined }) }, moment),
    groupBy: dimension,
  }
  const { data, error, refetch } = useOperation('retrieveAnalytics', {
    query: { ...query, event: measuredEvent(measure) },
  })
  const rows = (Array.isArray(data) ? data : undefined) as Row[] | undefined
  const named = (rows ?? []).map((row) => ({ row, key: rowKey(dimension, row), name: text(dimension, row) }))
  const sought = words.trim().toLowerCase()
  const found = sought ? named.filter(({ name }) => name.toLowerCase().includes(sought)) : named
  const name = t(dimensionTexts[dimension])
  const apply = () => {
    if (filter.name) change({ [filter.name]: formatValues(filter.chosen) })
    onClose()
  }
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={name}
        footer={
          <>
            <Button
              className="mr-auto"
              disabled={!rows}
              onClick={() => saveCsv(`${dimension}-${slug}.csv`, formatRows(dimension, rows ?? [], text))}
            >
              <Trans>Export as CSV</Trans>
            </Button>
            {filter.name && (
              <Button kind="first" onClick={apply}>
                {filter.chosen.values.length === 0 ? (
                  <Trans>Show all values</Trans>
                ) : (
                  <Trans>
                    Filter by <Plural value={filter.chosen.values.length} one="# value" other="# values" />
                  </Trans>
                )}
              </Button>
            )}
          </>
        }
      >
        <div className="mb-3 flex flex-wrap items-center gap-3">
          <SearchField label={t`Search ${name}`} value={words} onChange={setWords} />
          {filter.name && (
            <Segments
              label={t`Which to show`}
              options={[
                { value: 'is', name: t`is` },
                { value: 'not', name: t`is not` },
              ]}
              value={filter.chosen.isExcluded ? 'not' : 'is'}
              onChoose={(value) => filter.setExcluded(value === 'not')}
            />
          )}
        </div>
        {error && !rows ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : rows ? (
          <AllValuesList
            rows={found}
            measure={measure}
            isChosen={filter.isChosen}
            onToggle={filter.name && filter.toggle}
          />
        ) : (
          <Skeleton className="h-80 w-full" />
        )}
      </DialogContent>
    </Dialog>
  )
}

/** The values that are ticked until they are applied. */
function useDimensionFilter(dimension: Dimension, search: AnalyticsSearch) {
  const name = dimensionFilter(dimension)
  const [chosen, setChosen] = useState(() => parseValues(name && search[name]))
  const valueIn = (row: Row) => rowFilter(dimension, row)?.value
  return {
    name,
    chosen,
    setExcluded: (isExcluded: boolean) => setChosen({ ...chosen, isExcluded }),
    isChosen: (row: Row) => chosen.values.includes(valueIn(row) ?? ''),
    toggle: (row: Row) => {
      const value = valueIn(row)
      if (value === undefined) return
      const others = chosen.values.filter((one) => one !== value)
      setChosen({ ...chosen, values: others.length < chosen.values.length ? others : [...others, value] })
    },
  }
}
