import { Search } from 'lucide-react'
import { type Ref, useEffect, useRef, useState } from 'react'

type Props = { label: string; value: string; onChange(value: string): void; ref?: Ref<HTMLInputElement> }

const pauseMs = 150

/** A field that reports its text when typing pauses. */
export function SearchField({ label, value, onChange, ref }: Props) {
  const [text, setText] = useState(value)
  const reported = useRef(value)
  useEffect(() => {
    // Changed from outside, such as by the Back button.
    if (value !== reported.current) setText(value)
    reported.current = value
  }, [value])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause
  useEffect(() => {
    if (text === reported.current) return
    const timer = setTimeout(() => {
      reported.current = text
      onChange(text)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label className="relative flex h-8 w-60 items-center max-md:h-11 max-md:w-full">
      <Search size={14} strokeWidth={1.75} aria-hidden className="absolute left-2.5 text-faint" />
      <input
        ref={ref}
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => (event.key === 'Escape' || event.key === 'Enter') && event.currentTarget.blur()}
        className="h-full w-full rounded-md border border-line-strong bg-surface pr-2 pl-8 text-sm placeholder:text-faint max-md:text-base [&::-webkit-search-cancel-button]:hidden"
      />
    </label>
  )
}
