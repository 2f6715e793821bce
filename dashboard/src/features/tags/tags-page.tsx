import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
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
import { Tag } from '../../ui/tag.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { useLinkCounts } from '../links/link-counts.ts'
import { LinksBeside } from '../links/links-beside.tsx'
import { type LinkTag, TagDialog } from './tag-dialog.tsx'

/** The tags of links, with their colours and how many links have them. */
export function TagsPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const [search, setSearch] = useState('')
  const { data, error, refetch, isPlaceholderData } = useOperation('getTags', {
    query: { pageSize: 100, ...(search && { search }) },
  })
  const count = useLinkCounts('tagId')
  const [dialog, setDialog] = useState<'new' | { edit: LinkTag } | { remove: LinkTag }>()
  const close = () => setDialog(undefined)
  const removal = useRemoval()
  const canWrite = can('tags.write')
  useCommands(canWrite ? [{ id: 'tags.new', name: t`Create tag`, keys: 'n', run: () => setDialog('new') }] : [])
  const create = canWrite && (
    <Button kind="first" onClick={() => setDialog('new')}>
      <Trans>Create tag</Trans>
      <Kbd>N</Kbd>
    </Button>
  )
  return (
    <>
      <ListPage<LinkTag>
        title={<Trans>Tags</Trans>}
        actions={create}
        beside={
          <LinksBeside
            label={t`Links`}
            pages={[
              ['links', t`All links`],
              ['folders', t`Folders`],
              ['utm-templates', t`UTM templates`],
            ]}
          />
        }
        search={{ label: t`Search tags`, value: search, onChange: setSearch }}
        items={data}
        itemId={({ id }) => id}
        isDimmed={isPlaceholderData}
        isCut={data?.length === 100}
        failure={error && !data ? <ErrorMessage error={error} retry={() => void refetch()} /> : undefined}
        empty={
          search ? (
            <Message title={<Trans>No tag matches</Trans>} />
          ) : (
            <Message title={<Trans>No tags yet</Trans>} action={create}>
              <p>
                <Trans>
                  A link can have several tags, such as a channel and a season. Lists and figures can be filtered by
                  them.
                </Trans>
              </p>
            </Message>
          )
        }
        row={(tag) => (
          <TagRow
            tag={tag}
            count={count(tag.id)}
            onEdit={canWrite ? () => setDialog({ edit: tag }) : undefined}
            onRemove={() => (count(tag.id) === 0 ? void removal.removeUnused(tag) : setDialog({ remove: tag }))}
          />
        )}
      />
      {dialog === 'new' && <TagDialog onClose={close} />}
      {typeof dialog === 'object' && 'edit' in dialog && <TagDialog tag={dialog.edit} onClose={close} />}
      {typeof dialog === 'object' && 'remove' in dialog && (
        <ConfirmName
          title={<Trans>Delete tag</Trans>}
          action={<Trans>Delete tag</Trans>}
          name={dialog.remove.name}
          error={removal.error}
          isBusy={removal.isBusy}
          onConfirm={() => void removal.remove(dialog.remove).then(close, () => undefined)}
          onClose={close}
        >
          <p>
            <Trans>Its links stay and keep redirecting, without this tag.</Trans>
          </p>
        </ConfirmName>
      )}
    </>
  )
}

type RowProps = { tag: LinkTag; count: number | undefined; onEdit?(): void; onRemove(): void }

function TagRow({ tag, count, onEdit, onRemove }: RowProps) {
  const { t } = useLingui()
  const { id, name, color } = tag
  return (
    <>
      <div className="min-w-0 flex-1">
        <RouteLink from="/$workspace" to="/$workspace/links" search={{ tags: id }} className="inline-block max-w-full">
          <Tag color={color}>{name}</Tag>
        </RouteLink>
      </div>
      <span className="text-muted">{count !== undefined && <Plural value={count} one="# link" other="# links" />}</span>
      {onEdit && (
        <RowActions labels={{ edit: t`Edit ${name}`, remove: t`Delete ${name}` }} onEdit={onEdit} onRemove={onRemove} />
      )}
    </>
  )
}

function useRemoval() {
  const { t } = useLingui()
  const deleting = useChange('deleteTag', ['getTags', 'getLinks', 'getLinkGroups'])
  const creating = useChange('createTag', ['getTags'])
  const remove = ({ id }: LinkTag) => deleting.mutateAsync({ params: { id } })
  const removeUnused = async (tag: LinkTag) => {
    const { name, color } = tag
    try {
      await remove(tag)
      toast({ title: t`Deleted the tag ${name}`, undo: () => creating.mutate({ body: { name, color } }) })
    } catch (error) {
      toastError(error)
    }
  }
  return { remove, removeUnused, error: deleting.error?.message, isBusy: deleting.isPending }
}
