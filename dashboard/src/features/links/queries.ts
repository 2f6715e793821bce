import { useQueries, useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer } from '@tributary/contract/client'
import { useEffect } from 'react'
import { operationQuery, useOperation } from '../../app/queries.ts'
import { forgetPages, type RowList, useRows } from '../../app/rows.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useMinute } from '../../ui/minute.ts'
import { useSeesAnalytics } from '../analytics/access.ts'
import { askPeriod } from '../analytics/periods.ts'
import { type LinksSearch, linksPerPage, linksQuery, type Period } from './search.ts'

export type Link = OperationAnswer<'getLinks'>[number]
export type LinkStats = OperationAnswer<'retrieveLinkStats'>[number]
export type LinkList = RowList<Link>

/** Links of the address's filters in its order. */
export function useLinks(search: LinksSearch, timeZone: string, total: number | undefined) {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const rows = useRows('getLinks', linksQuery(search, timeZone), total)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when other pages are on the screen
  useEffect(() => forgetPages(client, slug, 'retrieveLinkStats'), [client, slug, rows.pages])
  return rows
}

/** Figures of the links in a period, one request per page of the list; with `series`, also by day. */
export function useLinkStats(
  links: readonly Link[],
  { period, series, timeZone }: { period: Period; series: boolean; timeZone: string },
): ReadonlyMap<string, LinkStats> {
  const { slug } = useWorkspace()
  const enabled = useSeesAnalytics()
  const asked = askPeriod(period, { now: useMinute(), timeZone, weekStart: 0 })
  const pages = Array.from({ length: Math.ceil(links.length / linksPerPage) }, (_, index) =>
    links.slice(index * linksPerPage, (index + 1) * linksPerPage),
  )
  const queries = pages.map((page) => ({
    ...operationQuery(slug, 'retrieveLinkStats', {
      query: {
        linkIds: page.map(({ id }) => id).join(),
        ...asked,
        timezone: timeZone,
        ...(series && { series: 'true' as const }),
      },
    }),
    enabled,
    staleTime: 60_000,
  }))
  return useQueries({ queries, combine: combineStats })
}

function combineStats(results: { data?: LinkStats[] }[]): ReadonlyMap<string, LinkStats> {
  return new Map(results.flatMap(({ data = [] }) => data.map((stats) => [stats.linkId, stats])))
}

/** Currency and time zone of the workspace, which figures and times are written in. */
export function useWorkspaceSettings(): { currency: string; timeZone: string } {
  const { slug } = useWorkspace()
  const { data } = useOperation('getWorkspace', { params: { idOrSlug: slug } }, { staleTime: 300_000 })
  return data ?? { currency: 'usd', timeZone: 'UTC' }
}
