import type { ReactNode } from 'react'

/** A key of the keyboard, shown beside the action that it starts; by default not on small screens, which have none. */
export function Kbd({ children, isAlwaysShown }: { children: ReactNode; isAlwaysShown?: boolean }) {
  return (
    <kbd
      className={`rounded-sm border border-b-2 border-current/20 px-1 font-sans text-[11px] leading-4 font-medium whitespace-nowrap ${isAlwaysShown ? '' : 'max-md:hidden'}`}
    >
      {children}
    </kbd>
  )
}
