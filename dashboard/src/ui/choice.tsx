import { useState } from 'react'
import { type Option, OptionList } from './option-list.tsx'
import { Picker } from './picker.tsx'

type Props = {
  /** What the field to search in says. */
  label: string
  options: readonly Option[]
  value: string
  onChoose(value: string): void
  isDisabled?: boolean
}

const mostShown = 100

/** One of many options, found by typing. */
export function Choice({ label, options, value, onChoose, isDisabled }: Props) {
  const chosen = options.find((option) => option.value === value)
  return (
    <Picker
      isDisabled={isDisabled}
      options={(onDone) => (
        <Found
          {...{ label, options, value }}
          onChoose={(value) => {
            onChoose(value)
            onDone()
          }}
        />
      )}
    >
      <bdi className="truncate">{chosen?.name ?? (value || '–')}</bdi>
    </Picker>
  )
}

function Found({ label, options, value, onChoose }: Omit<Props, 'isDisabled'>) {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const found = options.filter(({ name }) => name.toLowerCase().includes(words))
  return (
    <OptionList
      label={label}
      options={found.slice(0, mostShown)}
      selected={[value]}
      onChoose={onChoose}
      search={search}
      onSearch={setSearch}
    />
  )
}
