import type { OperationInput } from '@tributary/contract/client'
import { type LinksSearch, linkFilters } from '../links/search.ts'

export type NewBulkOperation = NonNullable<OperationInput<'createBulkOperation'>['body']>

/** The links that an operation changes: those selected, or all that match the address's filters. */
export function bulkFilter(
  { ids, isAll }: { ids: readonly string[]; isAll: boolean },
  search: LinksSearch,
  timeZone: string,
): NewBulkOperation['filter'] {
  if (!isAll) return { linkIds: [...ids], showArchived: true }
  const { tagIds, showArchived, ...rest } = linkFilters(search, timeZone)
  return { ...rest, ...(tagIds && { tagIds: tagIds.split(',') }), ...(showArchived && { showArchived: true }) }
}
