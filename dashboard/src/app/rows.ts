import { type QueryClient, useQueries, useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer, OperationId, OperationInput } from '@tributary/contract/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { operationQuery } from './queries.ts'
import { countRows, pagesBetween } from './windows.ts'
import { useWorkspace } from './workspace.ts'

type ListOperation = 'getLinks' | 'getCustomers'
type ListedRow<I extends ListOperation> = OperationAnswer<I>[number]
/** The rows of a list by their position; undefined while their page is not loaded. */
export type RowList<Row> = { count: number; at(index: number): Row | undefined; loaded: readonly Row[] }

const restMs = 60
const firstPage = [1]
const mostPages = 30

/** The rows of a list in its order. Only the pages on the screen are read, at any size. */
export function useRows<I extends ListOperation>(
  operation: I,
  query: NonNullable<OperationInput<I>['query']> & { pageSize: number },
  total: number | undefined,
) {
  type Row = ListedRow<I>
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const { pageSize } = query
  const key = JSON.stringify(query)
  const [visible, setVisible] = useState({ key, pages: firstPage })
  const pages = visible.key === key ? visible.pages : firstPage
  const result = useQueries({
    queries: pages.map((page) => ({
      ...operationQuery(slug, operation, { query: { ...query, page } } as OperationInput<I>),
      placeholderData: undefined,
    })),
    combine: combinePages<Row>,
  })
  const latest = useRef<{ key: string; list: RowList<Row> }>(undefined)
  const isLoaded = result.pages.some((page) => page !== undefined)
  const current = useMemo(() => toList(result.pages, pages, pageSize, total), [result.pages, pages, pageSize, total])
  if (isLoaded) latest.current = { key, list: current }
  const timer = useRef(0)
  // Pages that are only passed by while scrolling are not read.
  const onRange = useCallback(
    (first: number, last: number) => {
      clearTimeout(timer.current)
      timer.current = window.setTimeout(() => {
        const next = pagesBetween(first, last, pageSize)
        setVisible((before) =>
          before.key === key && before.pages.join() === next.join() ? before : { key, pages: next },
        )
      }, restMs)
    },
    [key, pageSize],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when other pages are on the screen
  useEffect(() => {
    forgetPages(client, slug, operation)
    return () => clearTimeout(timer.current)
  }, [client, slug, operation, pages])
  const isStale = latest.current?.key !== key
  return {
    ...result,
    key,
    pages,
    onRange,
    list: latest.current?.list,
    isStale: isStale && latest.current !== undefined,
  }
}

type Result<T> = { data?: T; error: Error | null; refetch(): unknown }

function combinePages<Row>(results: Result<unknown>[]) {
  return {
    pages: results.map(({ data }) => data as Row[] | undefined),
    error: results.find(({ error }) => error)?.error ?? null,
    refetch: () => results.forEach(({ refetch }) => void refetch()),
  }
}

function toList<Row>(
  loaded: readonly (Row[] | undefined)[],
  pages: readonly number[],
  size: number,
  total: number | undefined,
): RowList<Row> {
  const byPage = new Map(pages.map((page, index) => [page, loaded[index]]))
  return {
    count: countRows(byPage, size, total),
    at: (index) => byPage.get(Math.floor(index / size) + 1)?.[index % size],
    loaded: loaded.flatMap((page) => page ?? []),
  }
}

/** Removes the oldest pages that are not on the screen, so that a long list does not fill the memory. */
export function forgetPages(client: QueryClient, slug: string, operation: OperationId): void {
  const cache = client.getQueryCache()
  const idle = cache.findAll({ queryKey: [slug, operation], type: 'inactive' })
  idle.sort((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
  for (const query of idle.slice(mostPages)) cache.remove(query)
}
