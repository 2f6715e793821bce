import { Trans, useLingui } from '@lingui/react/macro'
import { X } from 'lucide-react'
import { Toast as Radix } from 'radix-ui'
import { useSyncExternalStore } from 'react'
import { Button } from './button.tsx'

export type Toast = {
  title: string
  detail?: string
  kind?: 'plain' | 'harm'
  /** Takes the action back; the toast offers it for ten seconds. */
  undo?: () => unknown
}
type Shown = Toast & { id: number }

const mostShown = 3
let shown: readonly Shown[] = []
let lastId = 0
const changed = new EventTarget()

/** Says what has been done, and offers to undo it. */
export function toast(given: Toast): void {
  lastId += 1
  replace([...shown, { ...given, id: lastId }].slice(-mostShown))
}

/** Says that an action failed, and why. */
export function toastError(error: unknown): void {
  toast({ kind: 'harm', title: error instanceof Error ? error.message : String(error) })
}

/** The toast that can be undone and came last. */
export function useUndoable(): Toast['undo'] {
  const last = useShown().findLast(({ undo }) => undo)
  return last && (() => undoShown(last))
}

/** Shows the toasts, away from the buttons of a drawer; once per page. */
export function Toaster() {
  const { t } = useLingui()
  return (
    <Radix.Provider label={t`Notification`} swipeDirection="left">
      {useShown().map((one) => (
        <Radix.Root
          key={one.id}
          duration={one.undo ? 10_000 : 5_000}
          type={one.kind === 'harm' ? 'foreground' : 'background'}
          onOpenChange={(isOpen) => !isOpen && remove(one.id)}
          className="flex animate-slide items-center gap-3 rounded-lg border border-line-strong bg-raised py-2 pr-2 pl-4 shadow-overlay"
        >
          <div className="min-w-0 flex-1">
            <Radix.Title className={`text-sm font-medium wrap-anywhere ${one.kind === 'harm' ? 'text-harm' : ''}`}>
              {one.title}
            </Radix.Title>
            {one.detail && (
              <Radix.Description className="text-xs text-muted wrap-anywhere">{one.detail}</Radix.Description>
            )}
          </div>
          {one.undo && (
            <Radix.Action asChild altText={t`Undo`}>
              <Button size="small" onClick={() => undoShown(one)}>
                <Trans>Undo</Trans>
              </Button>
            </Radix.Action>
          )}
          <Radix.Close asChild>
            <Button kind="quiet" size="icon" aria-label={t`Close`}>
              <X size={14} aria-hidden />
            </Button>
          </Radix.Close>
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed bottom-3 left-3 z-60 flex w-90 max-w-[calc(100vw-24px)] flex-col gap-2 outline-none max-md:bottom-18 md:left-59" />
    </Radix.Provider>
  )
}

function undoShown({ id, undo }: Shown): void {
  remove(id)
  undo?.()
}

function remove(id: number): void {
  replace(shown.filter((one) => one.id !== id))
}

function replace(next: readonly Shown[]): void {
  shown = next
  changed.dispatchEvent(new Event('change'))
}

function useShown(): readonly Shown[] {
  return useSyncExternalStore(subscribe, () => shown)
}

function subscribe(listener: () => void): () => void {
  changed.addEventListener('change', listener)
  return () => changed.removeEventListener('change', listener)
}
