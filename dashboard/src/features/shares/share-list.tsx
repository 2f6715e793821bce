import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { DeleteShare } from './delete-share.tsx'
import { ShareForm } from './share-form.tsx'
import { ShareRow } from './share-row.tsx'
import type { Share, ShareSubject } from './share-values.ts'

type Props = { subject: ShareSubject; onClose(): void }
type Step = 'list' | 'new' | { edit: Share } | { remove: Share }

/** The public pages of a view, link or folder. Without any, it begins with the form for the first one. */
export function ShareList({ subject, onClose }: Props) {
  const { can } = useWorkspace()
  const { data, error, refetch, isPlaceholderData } = useOperation('listShares', { query: subject })
  const shares = isPlaceholderData ? undefined : data
  const [chosen, setStep] = useState<Step>()
  const canWrite = can('views.write') && ('viewId' in subject || can('links.write'))
  const step = chosen ?? (shares?.length === 0 && canWrite ? 'new' : 'list')
  const back = () => setStep('list')
  // Which dialog it is follows from the list. Two in turn would take the focus from each other.
  if (!shares && !error) return null
  if (step === 'new') {
    return <ShareForm subject={subject} onClose={(isSaved) => (isSaved || shares?.length ? back() : onClose())} />
  }
  if (typeof step === 'object') {
    if ('edit' in step) return <ShareForm share={step.edit} onClose={back} />
    return <DeleteShare share={step.remove} onClose={back} />
  }
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Public pages</Trans>}
        footer={
          canWrite && (
            <Button kind="first" onClick={() => setStep('new')}>
              {shares?.length ? <Trans>Create another page</Trans> : <Trans>Create page</Trans>}
            </Button>
          )
        }
      >
        {error && !shares ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !shares?.length ? (
          <p className="text-muted">
            <Trans>Nothing is shared</Trans>
          </p>
        ) : (
          <ul className="rounded-md border">
            {shares.map((share) => (
              <ShareRow
                key={share.id}
                share={share}
                canWrite={canWrite}
                onEdit={() => setStep({ edit: share })}
                onDelete={() => setStep({ remove: share })}
              />
            ))}
          </ul>
        )}
      </DialogContent>
    </Dialog>
  )
}
