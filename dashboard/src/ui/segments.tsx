import type { ReactNode } from 'react'

type Props<T extends string> = {
  label: string
  options: readonly { value: T; name: string; content?: ReactNode }[]
  value: T
  onChoose(value: T): void
  className?: string
}

/** A few choices beside each other, of which one is on. */
export function Segments<T extends string>({ label, options, value, onChoose, className = '' }: Props<T>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out in a line in every browser
    <div
      role="group"
      aria-label={label}
      className={`inline-flex rounded-md border border-line-strong p-0.5 ${className}`}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          {...(option.content !== undefined && { 'aria-label': option.name, title: option.name })}
          onClick={() => onChoose(option.value)}
          className="grid h-6.5 min-w-7 place-items-center rounded-sm px-2 text-sm text-muted hover:text-ink aria-pressed:bg-hover aria-pressed:font-medium aria-pressed:text-ink max-md:h-10 max-md:min-w-10"
        >
          {option.content ?? option.name}
        </button>
      ))}
    </div>
  )
}
