import { type ReactNode, useId } from 'react'

type Choice<T> = { value: T; name: ReactNode; icon?: ReactNode }
type Props<T> = {
  label: ReactNode
  choices: readonly Choice<T>[]
  value: T
  onChange(value: T): void
  isDisabled?: boolean
  hint?: ReactNode
}

/** Some choices in a row, of which one holds; arrow keys choose. */
export function Choices<T extends string>({ label, choices, value, onChange, isDisabled, hint }: Props<T>) {
  const id = useId()
  return (
    <fieldset disabled={isDisabled} className="flex min-w-0 flex-col gap-1 disabled:opacity-60">
      <legend className="mb-1 text-xs text-muted">{label}</legend>
      <div className="flex flex-wrap gap-1.5">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="relative flex h-8 min-w-0 cursor-pointer items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-sm select-none hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:shadow-focus max-md:h-11"
          >
            <input
              type="radio"
              name={id}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
              className="absolute inset-0 m-0 cursor-pointer opacity-0"
            />
            {choice.icon}
            <span className="truncate">{choice.name}</span>
          </label>
        ))}
      </div>
      {hint && <p className="text-xs text-muted">{hint}</p>}
    </fieldset>
  )
}
