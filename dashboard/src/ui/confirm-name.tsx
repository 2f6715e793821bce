import { Trans } from '@lingui/react/macro'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogContent } from './dialog.tsx'
import { Field, TextInput } from './field.tsx'

type Props = {
  title: ReactNode
  /** The name that must be typed. */
  name: string
  /** The button: a verb and its object. */
  action: ReactNode
  error?: ReactNode
  isBusy: boolean
  onConfirm(): void
  onClose(): void
  /** What is lost. */
  children: ReactNode
}

/** Asks for the name of what can't be brought back. */
export function ConfirmName({ title, name, action, error, isBusy, onConfirm, onClose, children }: Props) {
  const [typed, setTyped] = useState('')
  const isSame = visibleText(typed) === visibleText(name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isSame && !isBusy) onConfirm()
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
            <Button kind="harm" type="submit" form="confirm-name" disabled={!isSame || isBusy}>
              {action}
            </Button>
          </>
        }
      >
        <form id="confirm-name" noValidate onSubmit={submit} className="flex flex-col gap-3">
          <div className="flex flex-col gap-2 wrap-anywhere">{children}</div>
          <Field
            label={
              <Trans>
                Type <bdi className="font-medium text-ink wrap-anywhere">{name}</bdi> to confirm
              </Trans>
            }
            error={error}
          >
            <TextInput
              autoFocus
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={typed}
              maxLength={300}
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
        </form>
      </DialogContent>
    </Dialog>
  )
}

/** Leaves out invisible marks, such as those for the direction of text. */
function visibleText(text: string): string {
  return text.replace(/\p{Cf}/gu, '').trim()
}
