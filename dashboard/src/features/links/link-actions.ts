import { useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../app/call.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import type { Link } from './queries.ts'
import { useReadLinksAgain } from './read-again.ts'
import { shortAddress } from './texts.ts'

/** What can be done with one link at once, each with Undo. */
export function useLinkActions() {
  const { t } = useLingui()
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const readAgain = useReadLinksAgain()
  const hide = (id: string) =>
    client.setQueriesData<Link[]>({ queryKey: [slug, 'getLinks'] }, (page) => page?.filter((link) => link.id !== id))
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      toastError(error)
      return false
    } finally {
      await readAgain()
    }
  }
  const restore = async (link: Pick<Link, 'id' | 'domain' | 'key'>) => {
    const isDone = await attempt(() => call('restoreLink', { params: { linkId: link.id } }, slug))
    if (isDone) toast({ title: t`Restored ${shortAddress(link)}` })
  }
  const remove = async (link: Link) => {
    hide(link.id)
    const isDone = await attempt(() => call('deleteLink', { params: { linkId: link.id } }, slug))
    if (isDone) toast({ title: t`Deleted ${shortAddress(link)}`, undo: () => restore(link) })
    return isDone
  }
  const archive = async (link: Link, archived: boolean) => {
    const patch = (archived: boolean) => call('updateLink', { params: { linkId: link.id }, body: { archived } }, slug)
    const isDone = await attempt(() => patch(archived))
    const undo = () => attempt(() => patch(!archived))
    if (!isDone) return
    toast({ title: archived ? t`Archived ${shortAddress(link)}` : t`Unarchived ${shortAddress(link)}`, undo })
  }
  return { remove, restore, archive }
}
