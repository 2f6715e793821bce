import { useLingui } from '@lingui/react/macro'
import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { useFocusReturn } from './opener.ts'
import { Scrim } from './scrim.tsx'

export const Dialog = Radix.Root
export const DialogTrigger = Radix.Trigger
export const DialogClose = Radix.Close

type Props = { title: ReactNode; description?: ReactNode; children: ReactNode; footer?: ReactNode; isWide?: boolean }

/** A dialog in the middle of a wide screen, and over the whole of a small one. */
export function DialogContent({ title, description, children, footer, isWide }: Props) {
  const { t } = useLingui()
  const focusReturn = useFocusReturn()
  return (
    <Radix.Portal>
      <Scrim className="z-50" />
      <Radix.Content
        {...(!description && { 'aria-describedby': undefined })}
        {...focusReturn}
        className={`fixed z-50 flex animate-appear flex-col bg-raised shadow-overlay outline-none max-md:inset-0 md:top-1/2 md:left-1/2 md:max-h-[85vh] md:-translate-x-1/2 md:-translate-y-1/2 md:rounded-lg md:border md:border-line-strong ${isWide ? 'md:w-200' : 'md:w-140'}`}
      >
        <header className="flex items-center gap-2 border-b py-2 pr-2 pl-5">
          <Radix.Title className="mr-auto truncate text-base font-semibold">{title}</Radix.Title>
          <Radix.Close asChild>
            <Button kind="quiet" size="icon" aria-label={t`Close`}>
              <X size={16} aria-hidden />
            </Button>
          </Radix.Close>
        </header>
        <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
          {description && <Radix.Description className="mb-3 text-muted">{description}</Radix.Description>}
          {children}
        </div>
        {footer && <footer className="flex items-center justify-end gap-2 border-t px-5 py-3">{footer}</footer>}
      </Radix.Content>
    </Radix.Portal>
  )
}
