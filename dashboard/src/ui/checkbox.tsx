import { Check, Minus } from 'lucide-react'
import type { ComponentProps } from 'react'

type Props = Omit<ComponentProps<'input'>, 'checked' | 'type'> & {
  checked: boolean | 'indeterminate'
  onCheckedChange?: (isChecked: boolean) => void
}

/** A box to tick; `checked="indeterminate"` for some of many. Its own target is larger than what is drawn. */
export function Checkbox({ className = '', checked, onCheckedChange, ...rest }: Props) {
  return (
    <span className={`relative inline-grid size-4 shrink-0 place-items-center text-on-accent ${className}`}>
      <input
        type="checkbox"
        ref={(input) => {
          if (input) input.indeterminate = checked === 'indeterminate'
        }}
        checked={checked === true}
        onChange={(event) => onCheckedChange?.(event.target.checked)}
        className="peer absolute -inset-2.5 z-10 m-0 size-9 cursor-pointer appearance-none focus-visible:shadow-none"
        {...rest}
      />
      <span
        aria-hidden
        className="absolute inset-0 rounded-sm border border-line-strong bg-surface peer-checked:border-accent peer-checked:bg-accent peer-indeterminate:border-accent peer-indeterminate:bg-accent peer-focus-visible:shadow-focus"
      />
      {checked === true && <Check size={12} strokeWidth={3} aria-hidden className="relative" />}
      {checked === 'indeterminate' && <Minus size={12} strokeWidth={3} aria-hidden className="relative" />}
    </span>
  )
}
