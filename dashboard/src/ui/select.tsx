import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { control, useField } from './field.tsx'

type Props = Omit<ComponentProps<'select'>, 'onChange'> & {
  options: readonly { value: string; name: string }[]
  onChoose(value: string): void
}

/** A short list of choices, drawn by the browser. */
export function Select({ options, onChoose, className = '', ...rest }: Props) {
  return (
    <span className={`relative inline-flex min-w-0 items-center ${className}`}>
      <select
        {...useField()}
        onChange={(event) => onChoose(event.target.value)}
        className={`h-8 appearance-none truncate pr-7 max-md:h-11 ${control}`}
        {...rest}
      >
        {options.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <ChevronDown size={14} aria-hidden className="pointer-events-none absolute right-2 text-faint" />
    </span>
  )
}
