import { useLingui } from '@lingui/react/macro'
import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { useFocusReturn } from './opener.ts'
import { Scrim } from './scrim.tsx'

type Props = { title: ReactNode; onClose(): void; children: ReactNode; footer?: ReactNode }

/** A panel from the right over the page, and over the whole of a small screen; focus stays inside and returns. */
export function Drawer({ title, onClose, children, footer }: Props) {
  const { t } = useLingui()
  const focusReturn = useFocusReturn()
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Scrim className="z-40" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focusReturn}
          className="fixed inset-y-0 right-0 z-50 flex w-full animate-drawer flex-col bg-raised shadow-overlay outline-none focus-visible:shadow-overlay md:w-116 md:border-l md:border-line-strong"
        >
          <header className="flex h-12 shrink-0 items-center gap-2 border-b pr-2 pl-5">
            <Dialog.Title className="mr-auto truncate text-base font-semibold">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <Button kind="quiet" size="icon" aria-label={t`Close`}>
                <X size={16} aria-hidden />
              </Button>
            </Dialog.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {footer && <footer className="flex shrink-0 items-center gap-2 border-t px-5 py-3">{footer}</footer>}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
