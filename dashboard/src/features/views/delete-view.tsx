import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../app/call.ts'
import { useChange } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { ConfirmName } from '../../ui/confirm-name.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import type { View } from './view-query.ts'

type Props = { view: View; onLeave(): void; onClose(): void }

/** Deletes a view with public pages. They end with it, so that undo could not bring back their addresses. */
export function DeleteSharedView({ view, pageCount, onLeave, onClose }: Props & { pageCount: number }) {
  const { t } = useLingui()
  const { id, name } = view
  const { mutateAsync, error, isPending } = useChange('deleteView', ['listViews', 'listShares'])
  const remove = async () => {
    await mutateAsync({ params: { id } })
    toast({ title: t`Deleted “${name}”` })
    onClose()
    onLeave()
  }
  return (
    <ConfirmName
      title={<Trans>Delete view</Trans>}
      action={<Trans>Delete view</Trans>}
      name={name}
      error={error?.message}
      isBusy={isPending}
      onConfirm={() => void remove().catch(() => {})}
      onClose={onClose}
    >
      <p>
        <Plural value={pageCount} one="Its public page ends for good." other="Its # public pages end for good." />
      </p>
    </ConfirmName>
  )
}

/** Deletes a view; undo saves it again. A view with public pages is not deleted: `pageCount` says how many it has. */
export function useDeleteView(view: View, onLeave: () => void) {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const [pageCount, setPageCount] = useState(0)
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work()
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: [slug, 'listViews'] })
    }
  }
  const remove = async () => {
    const { id, screen, name, query, visibility } = view
    onLeave()
    const isDone = await attempt(() => call('deleteView', { params: { id } }, slug))
    const undo = () => attempt(() => call('createView', { body: { screen, name, query, visibility } }, slug))
    if (isDone) toast({ title: t`Deleted “${name}”`, undo })
  }
  const start = async () => {
    const pages = await countPages(view, slug)
    if (pages > 0) setPageCount(pages)
    else await remove()
  }
  return { start: () => void start().catch(toastError), pageCount, cancel: () => setPageCount(0) }
}

/** How many public pages a view has; only views of analytics can have any. */
async function countPages({ id, screen }: View, slug: string): Promise<number> {
  if (screen !== 'analytics') return 0
  return (await call('listShares', { query: { viewId: id } }, slug)).length
}
