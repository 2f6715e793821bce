import { Popover as Radix } from 'radix-ui'
import type { ComponentProps } from 'react'

export const Popover = Radix.Root
export const PopoverTrigger = Radix.Trigger

/** What a button opens over the page, beside it. */
export function PopoverContent({ className = '', ...rest }: ComponentProps<typeof Radix.Content>) {
  return (
    <Radix.Portal>
      <Radix.Content
        sideOffset={4}
        collisionPadding={8}
        align="start"
        className={`z-50 max-w-[calc(100vw-16px)] animate-appear overflow-hidden rounded-lg border border-line-strong bg-raised shadow-overlay outline-none focus-visible:shadow-overlay ${className}`}
        {...rest}
      />
    </Radix.Portal>
  )
}
