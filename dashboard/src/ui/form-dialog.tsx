import { Trans } from '@lingui/react/macro'
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogContent } from './dialog.tsx'

type Props = {
  title: ReactNode
  /** What the button does, as a verb and its object. */
  submit: ReactNode
  kind?: 'first' | 'harm'
  isReady?: boolean
  /** Does the work; a rejection is shown in the dialog. */
  onSubmit(): Promise<unknown>
  onClose(): void
  children: ReactNode
}

/** A dialog with a short form; Enter or Ctrl+Enter submits it, and it closes when that worked. */
export function FormDialog({ title, submit, kind = 'first', isReady = true, onSubmit, onClose, children }: Props) {
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const run = async (event?: FormEvent) => {
    event?.preventDefault()
    if (isBusy || !isReady) return
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit()
      onClose()
    } catch (error) {
      setError(error instanceof Error ? error.message : String(error))
      setBusy(false)
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void run()
  }
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={title}
        footer={
          <>
            <Button kind="quiet" onClick={onClose}>
              <Trans>Cancel</Trans>
            </Button>
            <Button kind={kind} type="submit" form="form-dialog" disabled={isBusy || !isReady}>
              {submit}
            </Button>
          </>
        }
      >
        <form
          id="form-dialog"
          noValidate
          onSubmit={(event) => void run(event)}
          onKeyDown={onKeyDown}
          className="flex flex-col gap-4"
        >
          {error && (
            <p role="alert" className="rounded-md border border-harm px-3 py-2 text-sm text-harm wrap-anywhere">
              {error}
            </p>
          )}
          {children}
        </form>
      </DialogContent>
    </Dialog>
  )
}
