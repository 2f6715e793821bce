import { ChevronsUpDown } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { control, useField } from './field.tsx'
import { Popover, PopoverContent, PopoverTrigger } from './popover.tsx'

type Props = { children: ReactNode; isDisabled?: boolean; options(onDone: () => void): ReactNode }

/** A control that shows what is chosen and opens the options. */
export function Picker({ children, isDisabled, options }: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover open={isOpen} onOpenChange={setOpen}>
      <PopoverTrigger
        {...useField()}
        disabled={isDisabled}
        className={`flex min-h-8 items-center gap-2 text-left max-md:min-h-11 ${control}`}
      >
        <span className="flex min-w-0 flex-1 flex-wrap items-center gap-1">{children}</span>
        <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-faint" />
      </PopoverTrigger>
      <PopoverContent>{options(() => setOpen(false))}</PopoverContent>
    </Popover>
  )
}
