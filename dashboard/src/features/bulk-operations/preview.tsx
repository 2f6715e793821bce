import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogClose, DialogContent } from '../../ui/dialog.tsx'
import { useFolders } from '../links/link-filters.tsx'
import { shortAddress, shortDestination } from '../links/texts.ts'
import type { BulkChange, BulkOperation } from './bulk.ts'
import { type FieldChange, listChanges } from './changes.ts'
import { changeLabels } from './field-labels.ts'

export type Pending = { change: BulkChange; name: string; result: BulkOperation }

/** What the operation would do: how many links, and the first ten of them before and after. */
export function Preview({ pending, onClose, onConfirm }: { pending: Pending; onClose(): void; onConfirm(): void }) {
  const { name, change, result } = pending
  const { total, sample } = result
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <DialogContent
        title={
          <>
            {name}: <Plural value={total} one="# link" other="# links" />
          </>
        }
        description={
          change.action === 'delete' ? (
            <Trans>The links stop working at once. For 30 days you can restore them.</Trans>
          ) : (
            <Trans>You can undo this for a day.</Trans>
          )
        }
        footer={
          <>
            <DialogClose asChild>
              <Button kind="quiet">
                <Trans>Cancel</Trans>
              </Button>
            </DialogClose>
            <Button kind={change.action === 'delete' ? 'harm' : 'first'} onClick={onConfirm} disabled={total === 0}>
              {name} <Plural value={total} one="# link" other="# links" />
            </Button>
          </>
        }
      >
        <ul className="text-sm">
          {sample.map(({ before, after }) => (
            <li key={before.id} className="border-b py-1.5 last:border-b-0">
              <div className="flex min-w-0 gap-3">
                <bdi className="max-w-[50%] shrink-0 truncate font-medium">{shortAddress(before)}</bdi>
                <bdi className="min-w-0 truncate text-muted">{shortDestination(before.url)}</bdi>
              </div>
              {after && <Changes changes={listChanges(before, after)} />}
            </li>
          ))}
        </ul>
        {total > sample.length && (
          <p className="pt-2 text-xs text-muted">
            <Plural value={total - sample.length} one="# more" other="# more" />
          </p>
        )}
      </DialogContent>
    </Dialog>
  )
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  const { t } = useLingui()
  const folders = useFolders(changes.some(({ field }) => field === 'folderId'))
  const show = (field: string, value: string) => {
    if (value === '') return <span className="text-faint">–</span>
    if (value === 'true') return <Trans>on</Trans>
    return <bdi>{field === 'folderId' ? (folders.get(value) ?? value) : value.slice(0, 300)}</bdi>
  }
  if (changes.length === 0)
    return (
      <p className="text-xs text-faint">
        <Trans>has these values already</Trans>
      </p>
    )
  return (
    <dl className="text-xs text-muted">
      {changes.map(({ field, before, after }) => (
        <div key={field} className="flex min-w-0 flex-wrap gap-x-2 wrap-anywhere">
          <dt>{changeLabels[field] ? t(changeLabels[field]) : field}:</dt>
          <dd className="min-w-0">
            <del className="no-underline opacity-70">{show(field, before)}</del> →{' '}
            <ins className="text-ink no-underline">{show(field, after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
