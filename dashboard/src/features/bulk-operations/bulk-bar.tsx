import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { Button } from '../../ui/button.tsx'
import { Count } from '../../ui/figures.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Popover, PopoverContent, PopoverTrigger } from '../../ui/popover.tsx'
import { FolderOptions, TagOptions } from '../links/filter-options.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import type { LinksSearch } from '../links/search.ts'
import type { LinkSelection } from '../links/selection.ts'
import { type BulkChange, type BulkOperation, useBulk } from './bulk.ts'
import { BulkEdit } from './bulk-edit.tsx'
import { bulkFilter } from './bulk-filter.ts'
import { type Pending, Preview } from './preview.tsx'

type Props = { selection: LinkSelection; search: LinksSearch; total: number }
type Opened = 'addTags' | 'removeTags' | 'move' | 'edit'

/** What can be done with the selected links; each action shows what it would change first. */
export function BulkBar({ selection, search, total }: Props) {
  const { t } = useLingui()
  const { preview, run, running } = useBulk()
  const [opened, setOpened] = useState<Opened>()
  const [pending, setPending] = useState<Pending>()
  const [failure, setFailure] = useState<string>()
  const { timeZone } = useWorkspaceSettings()
  const count = selection.isAll ? total : selection.ids.length
  const filter = bulkFilter(selection, search, timeZone)
  const begin = async (change: BulkChange, name: string) => {
    setFailure(undefined)
    try {
      setPending({ change, name, result: await preview(filter, change) })
      setOpened(undefined)
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    }
  }
  const confirm = ({ change }: Pending) => {
    setPending(undefined)
    selection.clear()
    void run(filter, change)
  }
  const archive = () => void begin({ action: 'update', data: { archived: true } }, t`Archive`)
  const remove = () => void begin({ action: 'delete' }, t`Delete`)
  const open = (name: Opened) => () => setOpened(name)
  const group = t`Selected links`
  const isShown = count > 0 && !running
  useCommands(
    isShown
      ? [
          { id: 'links.bulk.edit', name: t`Edit`, keys: 'e', group, run: open('edit') },
          { id: 'links.bulk.tag', name: t`Add tag`, keys: 't', group, run: open('addTags') },
          { id: 'links.bulk.untag', name: t`Remove tag`, keys: 'u', group, run: open('removeTags') },
          { id: 'links.bulk.move', name: t`Move`, keys: 'm', group, run: open('move') },
          { id: 'links.bulk.archive', name: t`Archive`, keys: 'a', group, run: archive },
          { id: 'links.bulk.delete', name: t`Delete`, keys: 'Backspace', group, run: remove },
          {
            id: 'links.bulk.clear',
            name: t`End the selection`,
            keys: 'Escape',
            group,
            isOnlyKey: true,
            run: selection.clear,
          },
        ]
      : [],
  )
  if (!isShown && !running) return null
  const choice = (name: Opened) => ({
    isOpen: opened === name,
    onOpen: (isOpen: boolean) => setOpened(isOpen ? name : undefined),
  })
  return (
    <section
      aria-label={group}
      className="fixed inset-x-3 bottom-4 z-30 mx-auto flex w-fit max-w-[calc(100vw-24px)] animate-slide flex-wrap items-center gap-1.5 rounded-lg border border-line-strong bg-raised px-3 py-2 shadow-overlay max-md:bottom-18 md:left-56"
    >
      {running ? (
        <Progress operation={running} />
      ) : (
        <>
          <span role="status" className="text-sm font-semibold">
            <Plural value={count} one="# selected" other="# selected" />
          </span>
          {!selection.isAll && total > count && (
            <button
              type="button"
              onClick={selection.selectAll}
              className="min-h-8 px-1 text-sm text-muted hover:text-ink"
            >
              <Trans>
                Select all <Count value={total} />
              </Trans>{' '}
              <Kbd>⇧X</Kbd>
            </button>
          )}
          <Button onClick={open('edit')}>
            <Trans>Edit</Trans> <Kbd>E</Kbd>
          </Button>
          <BulkPopover name={t`Add tag`} keys="T" {...choice('addTags')}>
            <TagOptions selected={[]} onChoose={(id) => void begin({ action: 'addTags', tagIds: [id] }, t`Add tag`)} />
          </BulkPopover>
          <BulkPopover name={t`Remove tag`} keys="U" {...choice('removeTags')}>
            <TagOptions
              selected={[]}
              onChoose={(id) => void begin({ action: 'removeTags', tagIds: [id] }, t`Remove tag`)}
            />
          </BulkPopover>
          <BulkPopover name={t`Move`} keys="M" {...choice('move')}>
            <FolderOptions
              selected={undefined}
              onChoose={(id) => void begin({ action: 'move', folderId: id === 'unsorted' ? null : id }, t`Move`)}
            />
          </BulkPopover>
          <Button onClick={archive}>
            <Trans>Archive</Trans> <Kbd>A</Kbd>
          </Button>
          <Button kind="harm" onClick={remove}>
            <Trans>Delete</Trans> <Kbd>⌫</Kbd>
          </Button>
          <Button kind="quiet" onClick={selection.clear}>
            <Trans>Clear</Trans> <Kbd>Esc</Kbd>
          </Button>
          {failure && opened !== 'edit' && (
            <p role="alert" className="w-full text-xs text-harm wrap-anywhere">
              {failure}
            </p>
          )}
        </>
      )}
      {opened === 'edit' && (
        <BulkEdit
          count={count}
          failure={failure}
          onPreview={(change) => void begin(change, t`Edit`)}
          onClose={() => {
            setOpened(undefined)
            setFailure(undefined)
          }}
        />
      )}
      {pending && (
        <Preview pending={pending} onClose={() => setPending(undefined)} onConfirm={() => confirm(pending)} />
      )}
    </section>
  )
}

type PopoverProps = { name: string; keys: string; isOpen: boolean; onOpen(isOpen: boolean): void; children: ReactNode }

function BulkPopover({ name, keys, isOpen, onOpen, children }: PopoverProps) {
  return (
    <Popover open={isOpen} onOpenChange={onOpen}>
      <PopoverTrigger asChild>
        <Button>
          {name} <Kbd>{keys}</Kbd>
        </Button>
      </PopoverTrigger>
      <PopoverContent side="top">{children}</PopoverContent>
    </Popover>
  )
}

function Progress({ operation }: { operation: BulkOperation }) {
  const { processed, total, status } = operation
  return (
    <span role="status" className="flex items-center gap-3 py-1 text-sm">
      {status === 'undoing' ? <Trans>Undoing</Trans> : <Trans>Changing links</Trans>}
      <progress
        aria-hidden
        max={Math.max(1, total)}
        value={processed}
        className="h-1 w-40 overflow-hidden rounded-full [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-accent"
      />
      <span className="text-muted">
        {processed} / {total}
      </span>
    </span>
  )
}
