import { useLingui } from '@lingui/react/macro'
import { usePreferences, useSavePreferences } from '../../app/preferences.ts'
import { ColumnOptions } from '../../ui/column-options.tsx'
import { columnNames } from './column-names.ts'
import { type ColumnName, columnsFor, preferColumns, toggleColumn } from './columns.ts'
import type { EventKind } from './search.ts'

type Props = { kind: EventKind; names: readonly ColumnName[]; isDense: boolean }

/** Which columns the list of a kind has, and how dense its rows are. The server keeps both. */
export function DisplayOptions({ kind, names, isDense }: Props) {
  const { t } = useLingui()
  const save = useSavePreferences()
  const preferred = usePreferences()?.screens.events.columns
  const show = (columns?: ColumnName[]) =>
    save({ screens: { events: { columns: preferColumns(kind, columns, preferred) } } })
  return (
    <ColumnOptions
      isDense={isDense}
      onDense={(isDense) => save({ density: isDense ? 'dense' : 'normal' })}
      columns={columnsFor(kind).map((name) => ({
        id: name,
        name: t(columnNames[name]),
        isShown: names.includes(name),
      }))}
      onToggle={(name) => show(toggleColumn(names, name as ColumnName))}
      onDefault={() => show()}
    />
  )
}
