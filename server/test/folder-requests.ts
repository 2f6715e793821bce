import type { JsonOperation, StreamOperation } from '@tributary/contract/operation'
import { bodyFields } from './foreign-attempts.ts'

type Named = JsonOperation | StreamOperation
export type FolderRequest = { params?: Record<string, string>; query?: Record<string, string>; body?: unknown }

const names = ['linkId', 'linkIds', 'folderId', 'folderIds']

/** Whether a request of the operation can name a folder or one of its links. */
export function namesFolder(operation: Named): boolean {
  if (/\{linkId\}|^\/folders\/\{/.test(operation.path)) return true
  const inQuery = 'query' in operation ? Object.keys(operation.query.shape) : []
  const inBody = operation.kind === 'json' ? bodyFields(operation) : []
  return [...inQuery, ...inBody].some((name) => names.includes(name))
}

/** Requests that name a folder or its link, and are valid otherwise. A new operation that can name them needs a line. */
export function folderRequests(folderId: string, linkId: string): Readonly<Record<string, FolderRequest>> {
  const url = `https://example.com/${folderId}`
  return {
    retrieveAnalytics: { query: { linkId } },
    retrieveAnalyticsBatch: { body: { linkId, groupBy: ['count'] } },
    retrieveLinkStats: { query: { linkIds: linkId } },
    retrieveVisitorsNow: { query: { linkId } },
    getCustomers: { query: { linkId } },
    getCustomersCount: { query: { linkId } },
    listEvents: { query: { linkId } },
    streamEvents: { query: { linkId } },
    exportEvents: { query: { linkId } },
    updateFolder: { params: { id: folderId }, body: { name: 'renamed' } },
    deleteFolder: { params: { id: folderId } },
    getLinks: { query: { folderId } },
    getLinksCount: { query: { folderId } },
    getLinkGroups: { query: { folderId, groupBy: 'tagId' } },
    getLinkInfo: { query: { linkId } },
    createLink: { body: { url, folderId } },
    upsertLink: { body: { url, folderId } },
    bulkCreateLinks: { body: [{ url, folderId }] },
    checkLinks: { body: [{ url, folderId }] },
    bulkUpdateLinks: { body: { linkIds: [linkId], data: { title: 'changed' } } },
    bulkDeleteLinks: { query: { linkIds: linkId } },
    updateLink: { params: { linkId }, body: { title: 'changed' } },
    deleteLink: { params: { linkId } },
    restoreLink: { params: { linkId } },
    listLinkHistory: { params: { linkId } },
    createBulkOperation: { body: { action: 'move', folderId, filter: {} } },
    getLinkQrDesign: { params: { linkId } },
    setLinkQrDesign: { params: { linkId }, body: {} },
    deleteLinkQrDesign: { params: { linkId } },
    changePublicStats: { body: { linkId, enabled: true } },
    listShares: { query: { linkId } },
    createShare: { body: { linkId } },
    createDiscountCode: { body: { partnerId: 'pn_unknown', linkId } },
    createCommission: { body: { type: 'sale', partnerId: 'pn_unknown', linkId } },
    createWebhook: { body: { name: 'hook', url, triggers: ['link.created'], linkScope: 'links', linkIds: [linkId] } },
    updateWebhook: { params: { id: 'unknown' }, body: { linkIds: [linkId] } },
  }
}
