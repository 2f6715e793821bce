import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogContent } from '../../ui/dialog.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Select } from '../../ui/select.tsx'
import { Refusal } from '../settings/refusal.tsx'
import { displayName, type Member, type MemberChanges } from './member-changes.ts'

type Access = Member['folders'][number]['access']
type Props = { member: Member; changes: MemberChanges; onClose(): void }

/** Access of one member to each folder, instead of the folder's own access level. */
export function FolderAccess({ member, changes, onClose }: Props) {
  const { t } = useLingui()
  const { data: folders } = useOperation('listFolders', { query: { pageSize: 100 } })
  const [rules, setRules] = useState(new Map(member.folders.map(({ folderId, access }) => [folderId, access])))
  const [isBusy, setBusy] = useState(false)
  const levels: Record<string, string> = { write: t`change`, read: t`read`, none: t`nothing` }
  const choose = (id: string, access: string) => {
    const next = new Map(rules)
    if (access === '') next.delete(id)
    else next.set(id, access as Access)
    setRules(next)
  }
  const save = async () => {
    setBusy(true)
    const entries = [...rules].map(([folderId, access]) => ({ folderId, access }))
    const isDone = await changes.setFolders(member, entries)
    setBusy(false)
    if (isDone) onClose()
  }
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={<Trans>Folders of {displayName(member)}</Trans>}
        description={
          <Trans>Access here replaces the folder’s own access level, for links, events and analytics in it.</Trans>
        }
        footer={
          <>
            <Button kind="quiet" onClick={onClose}>
              <Trans>Cancel</Trans>
            </Button>
            <Button kind="first" disabled={isBusy} onClick={() => void save()}>
              <Trans>Save access</Trans>
            </Button>
          </>
        }
      >
        <Refusal error={changes.error} />
        {!folders && <RowsLoading />}
        {folders?.length === 0 && (
          <p className="text-muted">
            <Trans>There are no folders yet. Create one on the links page.</Trans>
          </p>
        )}
        <ul className="text-sm">
          {folders?.map(({ id, name, accessLevel }) => (
            <li key={id} className="flex items-center gap-3 border-b py-1.5 last:border-b-0">
              <bdi className="min-w-0 flex-1 truncate">{name}</bdi>
              <Select
                aria-label={t`Access to ${name}`}
                className="w-44"
                value={rules.get(id) ?? ''}
                options={[
                  { value: '', name: t`as the folder: ${levels[accessLevel ?? 'none']}` },
                  ...Object.entries(levels).map(([value, name]) => ({ value, name })),
                ]}
                onChoose={(access) => choose(id, access)}
              />
            </li>
          ))}
        </ul>
      </DialogContent>
    </Dialog>
  )
}
