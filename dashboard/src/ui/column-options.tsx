import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Checkbox } from './checkbox.tsx'

type Props = {
  isDense: boolean
  onDense(isDense: boolean): void
  columns: readonly { id: string; name: string; isShown: boolean }[]
  onToggle(id: string): void
  /** Absent when the columns are not kept as a preference, so that there is no default to go back to. */
  onDefault?(): void
}

/** Which columns a list has, and how dense its rows are. */
export function ColumnOptions({ isDense, onDense, columns, onToggle, onDefault }: Props) {
  return (
    <div className="flex max-h-[70vh] w-56 flex-col overflow-y-auto p-1">
      <Choice isChecked={isDense} onChange={onDense}>
        <Trans>Dense rows</Trans>
      </Choice>
      <fieldset className="mt-1 border-t pt-1">
        <legend className="sr-only">
          <Trans>Columns</Trans>
        </legend>
        <p aria-hidden className="px-2 pt-1 pb-1 text-xs text-faint">
          <Trans>Columns</Trans>
        </p>
        {columns.map(({ id, name, isShown }) => (
          <Choice key={id} isChecked={isShown} onChange={() => onToggle(id)}>
            {name}
          </Choice>
        ))}
      </fieldset>
      {onDefault && (
        <Button kind="quiet" size="small" className="mt-1 justify-start" onClick={onDefault}>
          <Trans>Show default columns</Trans>
        </Button>
      )}
    </div>
  )
}

type ChoiceProps = { isChecked: boolean; onChange(isChecked: boolean): void; children: ReactNode }

function Choice({ isChecked, onChange, children }: ChoiceProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is inside
    <label className="flex h-8 shrink-0 cursor-pointer items-center gap-2.5 rounded-sm px-2 text-sm hover:bg-hover has-focus-visible:bg-hover max-md:h-11">
      <Checkbox checked={isChecked} onCheckedChange={onChange} />
      {children}
    </label>
  )
}
