import { type ReactNode, useId } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { TextInput } from '../../ui/field.tsx'

type AddressProps = { value: string; placeholder?: string; onChange(value: string): void }

export function AddressInput({ value, placeholder = 'https://example.com', onChange }: AddressProps) {
  return (
    <TextInput
      inputMode="url"
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholder}
      value={value}
      maxLength={32_000}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

type SwitchProps = { isOn: boolean; onChange(isOn: boolean): void; hint?: ReactNode; children: ReactNode }

/** A setting that holds or not, with a box to tick. */
export function Switch({ isOn, onChange, hint, children }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex min-h-8 items-center gap-2.5 text-sm max-md:min-h-11">
      <Checkbox
        id={id}
        checked={isOn}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onCheckedChange={(isChecked) => onChange(isChecked)}
      />
      <span>
        <label htmlFor={id} className="cursor-pointer">
          {children}
        </label>
        {hint && (
          <span id={`${id}-hint`} className="block text-xs text-muted">
            {hint}
          </span>
        )}
      </span>
    </div>
  )
}
