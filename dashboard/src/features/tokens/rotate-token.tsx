import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { ShownKey } from './shown-key.tsx'
import type { Token } from './token-values.ts'

/** Replaces a key by a new one; the old one works for some hours more. */
export function RotateToken({ token, onClose }: { token: Token; onClose(): void }) {
  const { t } = useLingui()
  const [hours, setHours] = useState('24')
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const rotate = useChange('rotateToken')
  const close = () => {
    onClose()
    // Not before: the row that has this dialog may not be in the new list.
    void client.invalidateQueries({ queryKey: [slug, 'listTokens'] })
  }
  const key = rotate.data?.key
  const overlaps = [
    { value: '0', name: t`ends at once` },
    { value: '1', name: t`works for 1 hour more` },
    { value: '24', name: t`works for 24 hours more` },
    { value: '72', name: t`works for 3 days more` },
    { value: '168', name: t`works for 7 days more` },
  ]
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && close()}>
      <DialogContent
        title={<Trans>Rotate {token.name}</Trans>}
        footer={
          key ? (
            <Button kind="first" onClick={close}>
              <Trans>I have stored the key</Trans>
            </Button>
          ) : (
            <>
              <Button kind="quiet" onClick={close}>
                <Trans>Cancel</Trans>
              </Button>
              <Button
                kind="first"
                disabled={rotate.isPending}
                onClick={() => rotate.mutate({ params: { id: token.id }, body: { overlapHours: Number(hours) } })}
              >
                <Trans>Rotate key</Trans>
              </Button>
            </>
          )
        }
      >
        {key ? (
          <ShownKey value={key} />
        ) : (
          <div className="flex flex-col gap-3">
            <Refusal error={rotate.error} />
            <p>
              <Trans>A new key gets the same name, scopes and hostnames.</Trans>
            </p>
            <Field label={<Trans>The old key</Trans>}>
              <Select value={hours} options={overlaps} onChoose={setHours} />
            </Field>
          </div>
        )}
      </DialogContent>
    </Dialog>
  )
}
