import { Trans, useLingui } from '@lingui/react/macro'
import { useSetPreferences } from '../../app/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { toast } from '../../ui/toast.tsx'
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
  const set = useSetPreferences()
  const save = (patch: Parameters<typeof set>[0]) =>
    void set(patch).catch((error: Error) =>
      toast({ title: t`This was not saved`, detail: error.message, kind: 'harm' }),
    )
  const show = (columns: ColumnName[] | null) =>
    columns && onColumns ? onColumns(columns) : save({ screens: { links: { columns } } })
  return (
    <div className="flex max-h-[70vh] w-56 flex-col overflow-y-auto p-1">
      <Choice isChecked={isDense} onChange={(isDense) => save({ density: isDense ? 'dense' : 'normal' })}>
        <Trans>Dense rows</Trans>
      </Choice>
      <fieldset className="mt-1 border-t pt-1">
        <legend className="sr-only">
          <Trans>Columns</Trans>
        </legend>
        <p aria-hidden className="px-2 pt-1 pb-1 text-xs text-faint">
          <Trans>Columns</Trans>
        </p>
        {allColumns.map((name) => (
          <Choice key={name} isChecked={names.includes(name)} onChange={() => show(toggleColumn(names, name))}>
            {t(columnNames[name])}
          </Choice>
        ))}
      </fieldset>
      {!onColumns && (
        <Button kind="quiet" size="small" className="mt-1 justify-start" onClick={() => show(null)}>
          <Trans>Show default columns</Trans>
        </Button>
      )}
    </div>
  )
}

type ChoiceProps = { isChecked: boolean; onChange(isChecked: boolean): void; children: React.ReactNode }

function Choice({ isChecked, onChange, children }: ChoiceProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is inside
    <label className="flex h-8 cursor-pointer items-center gap-2.5 rounded-sm px-2 text-sm hover:bg-hover has-focus-visible:bg-hover max-md:h-11">
      <Checkbox checked={isChecked} onCheckedChange={onChange} />
      {children}
    </label>
  )
}
