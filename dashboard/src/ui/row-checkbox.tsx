import { useLingui } from '@lingui/react/macro'
import { Checkbox } from './checkbox.tsx'

type Props = { label: string; isSelected: boolean; onToggle(isRange: boolean): void }

/** Selects a row; with Shift, all rows from the last one on. */
export function RowCheckbox({ label, isSelected, onToggle }: Props) {
  const { t } = useLingui()
  return <Checkbox aria-label={t`Select ${label}`} checked={isSelected} onClick={(event) => onToggle(event.shiftKey)} />
}
