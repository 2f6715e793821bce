import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ComponentProps, ReactNode } from 'react'

const item =
  'flex h-8 items-center gap-2 rounded-sm px-2 text-sm outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover max-md:h-11'

/** A menu leaves the rest of the page as it is: one click elsewhere closes it and does what it says. */
export function Menu(props: ComponentProps<typeof DropdownMenu.Root>) {
  return <DropdownMenu.Root modal={false} {...props} />
}

export const MenuTrigger = DropdownMenu.Trigger

/** The list of a menu, over the page. */
export function MenuContent({ children, ...rest }: ComponentProps<typeof DropdownMenu.Content>) {
  return (
    <DropdownMenu.Portal>
      <DropdownMenu.Content
        sideOffset={4}
        collisionPadding={8}
        className="z-50 min-w-48 animate-appear rounded-lg border border-line-strong bg-raised p-1 shadow-overlay"
        {...rest}
      >
        {children}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  )
}

export function MenuItem({ className = '', ...rest }: ComponentProps<typeof DropdownMenu.Item>) {
  return <DropdownMenu.Item className={`${item} ${className}`} {...rest} />
}

/** One of several choices; the chosen one has a tick. */
export function MenuChoice({ children, ...rest }: ComponentProps<typeof DropdownMenu.RadioItem>) {
  return (
    <DropdownMenu.RadioItem className={item} {...rest}>
      <span className="flex min-w-0 flex-1 items-center gap-2">{children}</span>
      <DropdownMenu.ItemIndicator>
        <Check size={14} aria-hidden />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.RadioItem>
  )
}

export const MenuChoices = DropdownMenu.RadioGroup

export function MenuLabel({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="px-2 pt-2 pb-1 text-xs text-faint">{children}</DropdownMenu.Label>
}

export function MenuLine() {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />
}
