import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { Share2 } from 'lucide-react'
import { useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useChange, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Message } from '../../ui/message.tsx'
import { RowActions } from '../../ui/row-actions.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { useLinkCounts } from '../links/link-counts.ts'
import { LinksBeside } from '../links/links-beside.tsx'
import { ShareDialog } from '../shares/share-dialog.tsx'
import { type Folder, FolderDialog } from './folder-dialog.tsx'

/** The folders of links: how many links each has, and who may use it. */
export function FoldersPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const [search, setSearch] = useState('')
  const { data, error, refetch, isPlaceholderData } = useOperation('listFolders', {
    query: { pageSize: 100, ...(search && { search }) },
  })
  const count = useLinkCounts('folderId')
  const [dialog, setDialog] = useState<'new' | { edit: Folder } | { remove: Folder } | { share: Folder }>()
  const close = () => setDialog(undefined)
  const removal = useRemoval()
  const canWrite = can('folders.write')
  useCommands(canWrite ? [{ id: 'folders.new', name: t`Create folder`, keys: 'n', run: () => setDialog('new') }] : [])
  const create = canWrite && (
    <Button kind="first" onClick={() => setDialog('new')}>
      <Trans>Create folder</Trans>
      <Kbd>N</Kbd>
    </Button>
  )
  return (
    <>
      <ListPage<Folder>
        title={<Trans>Folders</Trans>}
        actions={create}
        beside={
          <LinksBeside
            label={t`Links`}
            pages={[
              ['links', t`All links`],
              ['tags', t`Tags`],
              ['utm-templates', t`UTM templates`],
            ]}
          />
        }
        search={{ label: t`Search folders`, value: search, onChange: setSearch }}
        items={data}
        itemId={({ id }) => id}
        isDimmed={isPlaceholderData}
        isCut={data?.length === 100}
        failure={error && !data ? <ErrorMessage error={error} retry={() => void refetch()} /> : undefined}
        empty={
          search ? (
            <Message title={<Trans>No folder matches</Trans>} />
          ) : (
            <Message title={<Trans>No folders yet</Trans>} action={create}>
              <p>
                <Trans>
                  A folder holds the links of a campaign, a client or a team, and can be hidden from members.
                </Trans>
              </p>
            </Message>
          )
        }
        row={(folder) => (
          <FolderRow
            folder={folder}
            count={count(folder.id)}
            onEdit={canWrite ? () => setDialog({ edit: folder }) : undefined}
            onShare={can('links.write') && can('views.write') ? () => setDialog({ share: folder }) : undefined}
            onRemove={() => (count(folder.id) === 0 ? void removal.removeEmpty(folder) : setDialog({ remove: folder }))}
          />
        )}
      />
      {dialog === 'new' && <FolderDialog onClose={close} />}
      {typeof dialog === 'object' && 'edit' in dialog && <FolderDialog folder={dialog.edit} onClose={close} />}
      {typeof dialog === 'object' && 'share' in dialog && (
        <ShareDialog subject={{ folderId: dialog.share.id }} isOpen onClose={close} />
      )}
      {typeof dialog === 'object' && 'remove' in dialog && (
        <ConfirmName
          title={<Trans>Delete folder</Trans>}
          action={<Trans>Delete folder</Trans>}
          name={dialog.remove.name}
          error={removal.error}
          isBusy={removal.isBusy}
          onConfirm={() => void removal.remove(dialog.remove).then(close, () => undefined)}
          onClose={close}
        >
          <p>
            <Trans>Its links stay and keep redirecting, without a folder. Limits to who sees them end.</Trans>
          </p>
        </ConfirmName>
      )}
    </>
  )
}

type RowProps = { folder: Folder; count: number | undefined; onEdit?(): void; onShare?(): void; onRemove(): void }

function FolderRow({ folder, count, onEdit, onShare, onRemove }: RowProps) {
  const { t } = useLingui()
  const { id, name, description, accessLevel } = folder
  const access = {
    write: t`Members change its links`,
    read: t`Members see its links`,
    none: t`Hidden from members`,
  }[accessLevel ?? 'none']
  return (
    <>
      <div className="min-w-0 flex-1 py-1">
        <RouteLink
          from="/$workspace"
          to="/$workspace/links"
          search={{ folder: id }}
          className="block truncate font-medium hover:underline"
        >
          <bdi>{name}</bdi>
        </RouteLink>
        <div className="truncate text-xs text-muted">
          {access}
          {description && (
            <>
              {' · '}
              <bdi>{description}</bdi>
            </>
          )}
        </div>
      </div>
      <span className="text-muted">{count !== undefined && <Plural value={count} one="# link" other="# links" />}</span>
      {onShare && (
        <Button kind="quiet" size="icon" aria-label={t`Share statistics of ${name}`} onClick={onShare}>
          <Share2 size={14} aria-hidden />
        </Button>
      )}
      {onEdit && (
        <RowActions labels={{ edit: t`Edit ${name}`, remove: t`Delete ${name}` }} onEdit={onEdit} onRemove={onRemove} />
      )}
    </>
  )
}

function useRemoval() {
  const { t } = useLingui()
  const deleting = useChange('deleteFolder', ['listFolders', 'getLinks', 'getLinkGroups'])
  const creating = useChange('createFolder', ['listFolders'])
  const remove = ({ id }: Folder) => deleting.mutateAsync({ params: { id } })
  const removeEmpty = async (folder: Folder) => {
    const { name, description, accessLevel } = folder
    try {
      await remove(folder)
      toast({
        title: t`Deleted the folder ${name}`,
        undo: () => creating.mutate({ body: { name, description, accessLevel } }),
      })
    } catch (error) {
      toastError(error)
    }
  }
  return { remove, removeEmpty, error: deleting.error?.message, isBusy: deleting.isPending }
}
