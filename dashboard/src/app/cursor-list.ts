import { useQueries } from '@tanstack/react-query'
import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { call } from './call.ts'
import { countListed, followPage, type PageStart } from './cursor-chain.ts'
import { useWorkspace } from './workspace.ts'

/** Operations whose responses name the cursor of the next page. */
type ListId = 'listAuditLog' | 'listWebhookDeliveries'
type Row<I extends ListId> = OperationAnswer<I>[number]
type Loaded<T> = { rows: T[]; next: string | undefined }

export type CursorList<T> = {
  count: number
  at(index: number): T | undefined
  /** The rows of the pages on the screen, and the position of the first of them. */
  loaded: readonly T[]
  first: number
}

const size = 50
const restMs = 60
const loadingRows = 6
const firstPage = { first: 0, last: 0 }
// Pages off the screen are soon forgotten, so that a long list does not fill the memory.
const keepMs = 60_000

type Options<T> = { rowId(row: T): string; refetchMs?(rows: readonly T[]): number | false }

/** A list of any length, read by cursor as it is scrolled; only the pages on the screen are read again. */
export function useCursorList<I extends ListId>(
  operation: I,
  input: OperationInput<I>,
  { rowId, refetchMs }: Options<Row<I>>,
) {
  const { slug } = useWorkspace()
  const key = JSON.stringify(input)
  const start = useMemo(() => ({ key, chain: [undefined] as readonly PageStart[], ...firstPage }), [key])
  const [state, setState] = useState(start)
  const { chain, first, last } = state.key === key ? state : start
  const pages = useMemo(
    () => chain.map((_, page) => page).filter((page) => page >= first && page <= last),
    [chain, first, last],
  )
  const result = useQueries({
    queries: pages.map((page) => {
      const cursor = chain[page]?.cursor
      const query = { ...input.query, pageSize: size, ...(cursor && { cursor }) }
      return {
        queryKey: [slug, operation, { ...input, query }] as const,
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          readPage<I>(operation, { ...input, query, signal } as OperationInput<I>, slug),
        placeholderData: undefined,
        gcTime: keepMs,
        refetchInterval: ({ state }: { state: { data?: Loaded<Row<I>> } }) =>
          state.data && refetchMs ? refetchMs(state.data.rows) : false,
      }
    }),
    combine: combinePages<Row<I>>,
  })
  const rowIdNow = useRef(rowId)
  rowIdNow.current = rowId
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when a page was read
  useEffect(() => {
    setState((before) => {
      const now = before.key === key ? before : start
      const grown = result.pages.reduce<readonly PageStart[]>((chain, loaded, index) => {
        const page = pages[index]
        const end = loaded?.rows.at(-1)
        if (!loaded || page === undefined) return chain
        const next = loaded.next && end ? { after: rowIdNow.current(end), cursor: loaded.next } : undefined
        return followPage(chain, page, next)
      }, now.chain)
      return grown === now.chain ? before : { ...now, chain: grown }
    })
  }, [key, result.pages])
  const latest = useRef<{ key: string; list: CursorList<Row<I>> }>(undefined)
  const current = useMemo(() => toList(result.pages, pages, chain.length), [result.pages, pages, chain])
  if (result.pages.some(Boolean)) latest.current = { key, list: current }
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Pages that are only passed by while scrolling are not read.
  const onRange = useCallback(
    (from: number, to: number) => {
      clearTimeout(timer.current)
      timer.current = window.setTimeout(() => {
        const range = { first: Math.floor(from / size), last: Math.floor(to / size) }
        setState((before) => {
          const now = before.key === key ? before : start
          return now.first === range.first && now.last === range.last ? before : { ...now, ...range }
        })
      }, restMs)
    },
    [key, start],
  )
  const isStale = latest.current !== undefined && latest.current.key !== key
  return { list: latest.current?.list, isStale, error: result.error, refetch: result.refetch, onRange }
}

async function readPage<I extends ListId>(operation: I, input: OperationInput<I>, slug: string) {
  let next: string | undefined
  const onHeaders = (headers: Headers) => {
    next = headers.get('x-next-cursor') ?? undefined
  }
  const rows = (await call(operation, { ...input, onHeaders }, slug)) as Row<I>[]
  return { rows, next }
}

type Result<T> = { data?: Loaded<T>; error: Error | null; refetch(): unknown }

function combinePages<T>(results: Result<T>[]) {
  return {
    pages: results.map(({ data }) => data),
    error: results.find(({ error }) => error)?.error ?? null,
    refetch: () => results.forEach(({ refetch }) => void refetch()),
  }
}

function toList<T>(loaded: readonly (Loaded<T> | undefined)[], pages: readonly number[], known: number): CursorList<T> {
  const byPage = new Map(pages.map((page, index) => [page, loaded[index]?.rows]))
  const hasLast = pages.includes(known - 1)
  return {
    count: countListed(known, size, hasLast ? byPage.get(known - 1)?.length : undefined, loadingRows),
    at: (index) => byPage.get(Math.floor(index / size))?.[index % size],
    loaded: pages.flatMap((page) => byPage.get(page) ?? []),
    first: (pages[0] ?? 0) * size,
  }
}
