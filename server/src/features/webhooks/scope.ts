import type { Link } from '@tributary/contract/links'
import type { Webhook } from '@tributary/contract/webhooks'

type Scoped = { id: string; scope: Webhook['linkScope']; folder_ids: string[] }

/** Whether a webhook gets the events of this link. */
export function isInScope({ id, scope, folder_ids }: Scoped, link: Pick<Link, 'folderId' | 'webhookIds'>): boolean {
  if (scope === 'workspace') return true
  if (scope === 'folders') return link.folderId !== null && folder_ids.includes(link.folderId)
  return link.webhookIds.includes(id)
}
