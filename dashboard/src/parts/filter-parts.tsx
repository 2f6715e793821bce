import { useState } from 'react'
import type { Filter } from '../ui/filter.ts'
import { FilterBar } from '../ui/filter-bar.tsx'
import { OptionList } from '../ui/option-list.tsx'

const values = ['one', 'two', 'three', `a long one ${'x'.repeat(60)}`]
const options = values.map((name) => ({ value: name, name }))

export function FilterParts() {
  return (
    <>
      <Bar names={['Tag', 'Folder', 'Domain']} start={{}} summary="1,204 links" />
      <Bar
        names={['Source', 'Country', 'Device']}
        start={{ Source: ['one', 'two'], Country: values }}
        summary="3 links"
      />
    </>
  )
}

type Props = { names: string[]; start: Record<string, string[]>; summary: string }

function Bar({ names, start, summary }: Props) {
  const [chosen, setChosen] = useState(start)
  const [open, setOpen] = useState<string>()
  const set = (name: string, values: string[]) => setChosen({ ...chosen, [name]: values })
  const filters = names.map((name): Filter => {
    const selected = chosen[name] ?? []
    const toggle = (value: string) =>
      set(name, selected.includes(value) ? selected.filter((one) => one !== value) : [...selected, value])
    return {
      id: name,
      name,
      chosen: selected,
      clear: () => set(name, []),
      content: () => <OptionList label={name} options={options} selected={selected} onChoose={toggle} />,
    }
  })
  return <FilterBar filters={filters} summary={summary} open={open} onOpen={setOpen} />
}
