import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { SaveView } from './save-view.tsx'
import { useUpdateView } from './update-view.ts'
import type { Screen, View, ViewQuery } from './view-query.ts'

type Props = {
  screen: Screen
  query: ViewQuery
  /** The open view, if the screen shows changes to it. */
  view: View | undefined
  onSaved(view: View): void
  /** Shares the view without its changes. */
  onSkip(): void
  onClose(): void
}

/** Before a view is shared: saves it first, or says that public pages do not show its changes. */
export function SaveBeforeSharing({ screen, query, view, onSaved, onSkip, onClose }: Props) {
  const [isNew, setNew] = useState(false)
  if (view && !isNew)
    return <ChangedView view={view} query={query} onNew={() => setNew(true)} onSkip={onSkip} onClose={onClose} />
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Save the view to share it</Trans>}
        description={<Trans>A public page shows a saved view and follows its changes.</Trans>}
      >
        <SaveView screen={screen} query={query} onSaved={onSaved} onCancel={view ? () => setNew(false) : onClose} />
      </DialogContent>
    </Dialog>
  )
}

type ChangedProps = Pick<Props, 'query' | 'onSkip' | 'onClose'> & { view: View; onNew(): void }

/** Not saved changes: updates the view, saves them as a new one, or leaves them out. */
function ChangedView({ view, query, onNew, onSkip, onClose }: ChangedProps) {
  const { update, error, isPending } = useUpdateView(view, query)
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Your changes are not saved</Trans>}
        description={
          <Trans>
            Public pages show the saved view “<bdi>{view.name}</bdi>”, without your changes.
          </Trans>
        }
      >
        {error && (
          <p role="alert" className="mb-3 text-sm text-harm wrap-anywhere">
            {error.message}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          <Button kind="first" className="max-w-full" disabled={isPending} onClick={update}>
            <span className="truncate">
              <Trans>Update “{view.name}”</Trans>
            </span>
          </Button>
          <Button onClick={onNew}>
            <Trans>Save as a new view</Trans>
          </Button>
          <Button onClick={onSkip}>
            <Trans>Continue without the changes</Trans>
          </Button>
        </div>
      </DialogContent>
    </Dialog>
  )
}
