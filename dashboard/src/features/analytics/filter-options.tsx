import { useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { OptionList } from '../../ui/option-list.tsx'
import { Segments } from '../../ui/segments.tsx'
import { filterDimension, type Row, rowValue } from './dimensions.ts'
import { type ChangeEventSearch, type EventSearch, eventsQuery, type FilterName } from './event-search.ts'
import { formatValues, parseValues, toggleValue } from './filter-values.ts'
import { filterTexts } from './names.ts'
import type { Moment } from './periods.ts'
import { useValueText } from './value-text.ts'

type Props = { name: FilterName; search: EventSearch; change: ChangeEventSearch; moment: Moment }

const mostShown = 100

/** The values of a filter in the period: one or several, to see or to leave out. */
export function FilterOptions({ name, search, change, moment }: Props) {
  const { t } = useLingui()
  const text = useValueText()
  const chosen = parseValues(search[name])
  const [isExcluded, setExcluded] = useState(chosen.isExcluded)
  const [words, setWords] = useState('')
  const dimension = filterDimension(name)
  const others = eventsQuery({ ...search, [name]: undefined }, moment)
  const { data, error, isPending, refetch } = useOperation('retrieveAnalytics', {
    query: { ...others, event: 'composite', groupBy: dimension },
  })
  if (error && !data) return <ErrorMessage error={error} retry={() => void refetch()} />
  const rows = (Array.isArray(data) ? data : []) as Row[]
  const known = rows.flatMap((row) => {
    const value = rowValue(dimension, row)
    return value === undefined ? [] : [{ value, name: text(dimension, row) }]
  })
  const unknown = chosen.values.filter((value) => !known.some((option) => option.value === value))
  const options = [...unknown.map((value) => ({ value, name: value })), ...uniqueOptions(known)]
  const sought = words.trim().toLowerCase()
  return (
    <div className="flex w-64 max-w-full flex-col">
      <div className="border-b p-2">
        <Segments
          label={t`Which to show`}
          options={[
            { value: 'is', name: t`is` },
            { value: 'not', name: t`is not` },
          ]}
          value={isExcluded ? 'not' : 'is'}
          onChoose={(value) => {
            setExcluded(value === 'not')
            change({ [name]: formatValues({ ...chosen, isExcluded: value === 'not' }) })
          }}
        />
      </div>
      <OptionList
        label={t(filterTexts[name])}
        options={options.filter((option) => option.name.toLowerCase().includes(sought)).slice(0, mostShown)}
        selected={chosen.values}
        onChoose={(value) => change({ [name]: toggleValue(search[name], value, isExcluded) })}
        search={words}
        onSearch={setWords}
        isLoading={isPending}
      />
    </div>
  )
}

function uniqueOptions<T extends { value: string }>(options: readonly T[]): T[] {
  return [...new Map(options.toReversed().map((option) => [option.value, option])).values()].toReversed()
}

type SaleTypeProps = { selected: EventSearch['saleType']; change: ChangeEventSearch; onDone(): void }

export function SaleTypeOptions({ selected, change, onDone }: SaleTypeProps) {
  const { t } = useLingui()
  return (
    <OptionList
      label={t`Sale`}
      options={[
        { value: 'new', name: t`First of a customer` },
        { value: 'recurring', name: t`Repeated` },
      ]}
      selected={selected ? [selected] : []}
      onChoose={(value) => {
        change({ saleType: value as 'new' | 'recurring' })
        onDone()
      }}
    />
  )
}
