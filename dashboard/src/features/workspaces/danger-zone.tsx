import { Trans } from '@lingui/react/macro'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'

const LeaveWorkspace = lazy(async () => ({ default: (await import('./leave-workspace.tsx')).LeaveWorkspace }))
const TransferWorkspace = lazy(async () => ({ default: (await import('./transfer-workspace.tsx')).TransferWorkspace }))
const DeleteWorkspace = lazy(async () => ({ default: (await import('./delete-workspace.tsx')).DeleteWorkspace }))

/** Leaving, transferring and deleting the workspace; the last two are for owners. */
export function DangerZone() {
  const { role } = useWorkspace()
  const [open, setOpen] = useState<'leave' | 'transfer' | 'delete'>()
  const close = () => setOpen(undefined)
  const isOwner = role === 'owner'
  return (
    <Section title={<Trans>Danger zone</Trans>}>
      <Panel className="max-w-180">
        <Row
          text={<Trans>End your membership. Your personal keys stop working.</Trans>}
          action={<Trans>Leave workspace</Trans>}
          onOpen={() => setOpen('leave')}
        />
        {isOwner && (
          <>
            <Row
              text={<Trans>Make another member the owner. You become an admin.</Trans>}
              action={<Trans>Transfer workspace</Trans>}
              onOpen={() => setOpen('transfer')}
            />
            <Row
              text={<Trans>Delete the workspace with all links, events and customers, for good.</Trans>}
              action={<Trans>Delete workspace</Trans>}
              onOpen={() => setOpen('delete')}
            />
          </>
        )}
      </Panel>
      <Suspense>
        {open === 'leave' && <LeaveWorkspace onClose={close} />}
        {open === 'transfer' && <TransferWorkspace onClose={close} />}
        {open === 'delete' && <DeleteWorkspace onClose={close} />}
      </Suspense>
    </Section>
  )
}

function Row({ text, action, onOpen }: { text: ReactNode; action: ReactNode; onOpen(): void }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-4 py-3 text-sm last:border-b-0">
      <p className="min-w-48 flex-1">{text}</p>
      <Button kind="harm" onClick={onOpen}>
        {action}
      </Button>
    </div>
  )
}
