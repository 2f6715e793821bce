import { useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Filter } from './filter.ts'
import { OptionList } from './option-list.tsx'

/** First the filter, then its value. */
export function FilterChoice({ filters, onDone }: { filters: readonly Filter[]; onDone(): void }) {
  const { t } = useLingui()
  const [id, setId] = useState<string>()
  const [search, setSearch] = useState('')
  const filter = filters.find((one) => one.id === id)
  if (filter) return filter.content(onDone)
  const options = filters
    .filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()))
    .map(({ id, name }) => ({ value: id, name }))
  return (
    <OptionList
      label={t`Filter by`}
      options={options}
      selected={[]}
      search={search}
      onSearch={setSearch}
      onChoose={setId}
    />
  )
}
