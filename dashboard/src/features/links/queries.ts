import { type QueryClient, useQueries, useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer, OperationId } from '@tributary/contract/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { operationQuery, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { type LinksSearch, linksPerPage, linksQuery } from './search.ts'
import { countRows, pagesBetween } from './windows.ts'

export type Link = OperationAnswer<'getLinks'>[number]
export type LinkStats = OperationAnswer<'retrieveLinkStats'>[number]
/** The links by their position in the list; undefined while their page is not loaded. */
export type LinkList = { count: number; at(index: number): Link | undefined; loaded: readonly Link[] }

const restMs = 60
const firstPage = [1]
const mostPages = 30

/** Links of the address's filters in its order. Only the pages on the screen are read, at any size. */
export function useLinks(search: LinksSearch, timeZone: string, total: number | undefined) {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const query = linksQuery(search, timeZone)
  const key = JSON.stringify(query)
  const [visible, setVisible] = useState({ key, pages: firstPage })
  const pages = visible.key === key ? visible.pages : firstPage
  const result = useQueries({
    queries: pages.map((page) => ({
      ...operationQuery(slug, 'getLinks', { query: { ...query, page } }),
      placeholderData: undefined,
    })),
    combine: combinePages,
  })
  const latest = useRef<{ key: string; list: LinkList }>(undefined)
  const isLoaded = result.pages.some((page) => page !== undefined)
  const current = useMemo(() => toList(result.pages, pages, total), [result.pages, pages, total])
  if (isLoaded) latest.current = { key, list: current }
  const timer = useRef(0)
  // Pages that are only passed by while scrolling are not read.
  const onRange = useCallback(
    (first: number, last: number) => {
      clearTimeout(timer.current)
      timer.current = window.setTimeout(() => {
        const next = pagesBetween(first, last, linksPerPage)
        setVisible((before) =>
          before.key === key && before.pages.join() === next.join() ? before : { key, pages: next },
        )
      }, restMs)
    },
    [key],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when other pages are on the screen
  useEffect(() => {
    forgetPages(client, slug, 'getLinks')
    forgetPages(client, slug, 'retrieveLinkStats')
    return () => clearTimeout(timer.current)
  }, [client, slug, pages])
  const isStale = latest.current?.key !== key
  return { ...result, key, onRange, list: latest.current?.list, isStale: isStale && latest.current !== undefined }
}

type Result<T> = { data?: T; error: Error | null; refetch(): unknown }

function combinePages(results: Result<Link[]>[]) {
  return {
    pages: results.map(({ data }) => data),
    error: results.find(({ error }) => error)?.error ?? null,
    refetch: () => results.forEach(({ refetch }) => void refetch()),
  }
}

function toList(
  loaded: readonly (Link[] | undefined)[],
  pages: readonly number[],
  total: number | undefined,
): LinkList {
  const byPage = new Map(pages.map((page, index) => [page, loaded[index]]))
  return {
    count: countRows(byPage, linksPerPage, total),
    at: (index) => byPage.get(Math.floor(index / linksPerPage) + 1)?.[index % linksPerPage],
    loaded: loaded.flatMap((page) => page ?? []),
  }
}

/** Removes the oldest pages that are not on the screen, so that a long list does not fill the memory. */
function forgetPages(client: QueryClient, slug: string, operation: OperationId): void {
  const cache = client.getQueryCache()
  const idle = cache.findAll({ queryKey: [slug, operation], type: 'inactive' })
  idle.sort((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
  for (const query of idle.slice(mostPages)) cache.remove(query)
}

/** Figures of the links in a period, one request per page of the list; with `series`, also by day. */
export function useLinkStats(
  links: readonly Link[],
  { interval, series, timeZone }: { interval: string; series: boolean; timeZone: string },
): ReadonlyMap<string, LinkStats> {
  const { slug, can } = useWorkspace()
  const pages = Array.from({ length: Math.ceil(links.length / linksPerPage) }, (_, index) =>
    links.slice(index * linksPerPage, (index + 1) * linksPerPage),
  )
  const queries = pages.map((page) => ({
    ...operationQuery(slug, 'retrieveLinkStats', {
      query: {
        linkIds: page.map(({ id }) => id).join(),
        interval: interval as '30d',
        timezone: timeZone,
        ...(series && { series: 'true' as const }),
      },
    }),
    enabled: can('analytics.read'),
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
