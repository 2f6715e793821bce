import { useLingui } from '@lingui/react/macro'
import { useSavePreferences } from '../../app/preferences.ts'
import { ColumnOptions } from '../../ui/column-options.tsx'
import { columnNames } from './column-names.ts'
import { allColumns, type ColumnName, toggleColumn } from './columns.ts'

type Props = {
  names: readonly ColumnName[]
  isDense: boolean
  /** Keeps the columns in the address instead, when the address has some. */
  onColumns?(names: ColumnName[]): void
}

/** Which columns the list has, and how dense its rows are. The server keeps both. */
export function DisplayOptions({ names, isDense, onColumns }: Props) {
  const { t } = useLingui()
  const save = useSavePreferences()
  const show = (columns: ColumnName[] | null) =>
    columns && onColumns ? onColumns(columns) : save({ screens: { links: { columns } } })
  return (
    <ColumnOptions
      isDense={isDense}
      onDense={(isDense) => save({ density: isDense ? 'dense' : 'normal' })}
      columns={allColumns.map((name) => ({ id: name, name: t(columnNames[name]), isShown: names.includes(name) }))}
      onToggle={(name) => show(toggleColumn(names, name as ColumnName))}
      onDefault={onColumns ? undefined : () => show(null)}
    />
  )
}
