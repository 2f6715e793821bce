import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { type Role, roles } from '@tributary/contract/permissions'
import { UserMinus } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { Select } from '../../ui/select.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { roleNames } from '../permissions/role-names.ts'
import { displayName, type Member, type MemberChanges } from './member-changes.ts'

const FolderAccess = lazy(async () => ({ default: (await import('./folder-access.tsx')).FolderAccess }))
const RemoveMember = lazy(async () => ({ default: (await import('./remove-member.tsx')).RemoveMember }))

type Props = { member: Member; isSelf: boolean; isLastOwner: boolean; changes: MemberChanges }

/** One member: name, folders, role, and what the caller may do with them. */
export function MemberRow({ member, isSelf, isLastOwner, changes }: Props) {
  const { t } = useLingui()
  const { can, role: own } = useWorkspace()
  const { timeZone } = useWorkspaceSettings()
  const [open, setOpen] = useState<'folders' | 'remove'>()
  const close = () => setOpen(undefined)
  const name = displayName(member)
  const canChange = can('workspaces.write') && (own === 'owner' || member.role !== 'owner')
  const hasAllFolders = member.role === 'owner' || member.role === 'admin'
  const offered = roles.filter((role) => role !== 'owner' || own === 'owner')
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-3.5 py-2 text-sm last:border-b-0">
      <div className="min-w-48 flex-1">
        <p className="flex min-w-0 gap-2">
          <bdi className="truncate font-medium">{name}</bdi>
          {isSelf && (
            <span className="text-muted">
              <Trans>you</Trans>
            </span>
          )}
        </p>
        <p className="flex min-w-0 gap-2 text-xs text-muted">
          <bdi className="truncate">{member.email}</bdi>
          <span className="shrink-0">
            <Trans>
              since <Time at={member.createdAt} timeZone={timeZone} isDay />
            </Trans>
          </span>
        </p>
      </div>
      {hasAllFolders ? (
        <span className="w-32 text-xs text-muted max-md:hidden">
          <Trans>all folders</Trans>
        </span>
      ) : (
        <FolderCount count={member.folders.length} onOpen={canChange ? () => setOpen('folders') : undefined} />
      )}
      {canChange && !isLastOwner ? (
        <Select
          aria-label={t`Role of ${name}`}
          className="w-28"
          value={member.role}
          options={offered.map((role) => ({ value: role, name: t(roleNames[role]) }))}
          onChoose={(role) => void changes.setRole(member, role as Role)}
        />
      ) : (
        <span className="w-28 px-2.5" title={isLastOwner ? t`The last owner stays owner.` : undefined}>
          {t(roleNames[member.role])}
        </span>
      )}
      {canChange && !isLastOwner && !isSelf ? (
        <Button kind="quiet" size="icon" aria-label={t`Remove ${name}`} onClick={() => setOpen('remove')}>
          <UserMinus size={14} strokeWidth={1.75} aria-hidden />
        </Button>
      ) : (
        can('workspaces.write') && <span className="w-8 max-md:hidden" />
      )}
      <Suspense>
        {open === 'folders' && <FolderAccess member={member} changes={changes} onClose={close} />}
        {open === 'remove' && <RemoveMember member={member} changes={changes} onClose={close} />}
      </Suspense>
    </li>
  )
}

function FolderCount({ count, onOpen }: { count: number; onOpen?(): void }) {
  const words =
    count === 0 ? (
      <Trans>folders as set</Trans>
    ) : (
      <Plural value={count} one="# own folder rule" other="# own folder rules" />
    )
  if (!onOpen) return <span className="w-32 text-xs text-muted">{words}</span>
  return (
    <Button kind="quiet" size="small" className="-mx-2 w-36 justify-start! font-normal" onClick={onOpen}>
      {words}
    </Button>
  )
}
