import { useMemo, useState } from 'react'
import { Count } from '../ui/figures.tsx'
import { Table } from '../ui/table.tsx'
import type { Column, Sort } from '../ui/table-types.ts'

type Row = { id: string; name: string; clicks: number }

const count = 100_000
const columns: Column<Row>[] = [
  { id: 'name', name: 'Name', cell: ({ name }) => name, sort: 'name' },
  { id: 'clicks', name: 'Clicks', cell: ({ clicks }) => <Count value={clicks} />, width: 120, isNumber: true },
]

export function TableParts() {
  const [sort, setSort] = useState<Sort>({ by: 'name', isAscending: true })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set(['3']))
  const selection = useMemo(
    () => ({
      has: (id: string) => selected.has(id),
      toggle: (id: string) => setSelected(new Set(selected.has(id) ? [] : [id])),
      toggleAll: () => setSelected(new Set()),
      state: selected.size > 0 ? ('indeterminate' as const) : false,
    }),
    [selected],
  )
  const row = (index: number): Row | undefined =>
    index % 7 === 6 ? undefined : { id: String(index), name: `Row ${index}`, clicks: (index * 7_919) % 10_000 }
  return (
    <Table<Row>
      label="Example"
      columns={columns}
      count={count}
      row={row}
      rowId={({ id }) => id}
      rowLabel={({ name }) => name}
      rowHeight={36}
      card={({ name }) => name}
      cardHeight={56}
      sort={sort}
      onSort={(by) => setSort({ by, isAscending: !sort.isAscending })}
      selection={selection}
      onOpen={() => {}}
    />
  )
}
