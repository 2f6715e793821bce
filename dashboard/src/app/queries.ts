import { QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, type OperationAnswer, type OperationId, type OperationInput } from '@tributary/contract/client'
import { call } from './call.ts'
import { useWorkspace } from './workspace.ts'

/** Errors that a repetition can't change. */
const isFinal = (error: Error) => error instanceof ApiError && error.status < 500 && error.status !== 429

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (count, error) => count < 3 && !isFinal(error),
      retryDelay: (count, error) => retryAfterMs(error) ?? Math.min(1_000 * 2 ** count, 15_000),
      // Old figures stay, dimmed by the page, until the new ones have come.
      placeholderData: (previous: unknown) => previous,
    },
    mutations: { retry: false },
  },
})

/** How long a response with `Retry-After` asks to wait. */
export function retryAfterMs(error: unknown): number | undefined {
  const seconds = error instanceof ApiError ? Number(error.headers.get('retry-after')) : 0
  return seconds > 0 ? Math.min(seconds, 60) * 1_000 : undefined
}

/** Options of a query for one operation. The key is [workspace, operation, input], so that one prefix invalidates all of it. */
export function operationQuery<I extends OperationId>(
  workspace: string | undefined,
  operation: I,
  input: OperationInput<I> = {},
) {
  return queryOptions({
    queryKey: [workspace ?? null, operation, input] as const,
    queryFn: ({ signal }): Promise<OperationAnswer<I>> => call(operation, { ...input, signal }, workspace),
  })
}

type Polled<I extends OperationId> = { state: { data?: OperationAnswer<I>; error: Error | null } }
type Options<I extends OperationId> = {
  enabled?: boolean
  /** The pause until it is read again; a function decides by what was read last. */
  refetchInterval?: number | ((query: Polled<I>) => number | false)
  staleTime?: number
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** Reads an operation in the current workspace. */
export function useOperation<I extends OperationId>(
  operation: I,
  input: OperationInput<I> = {},
  options: Options<I> = {},
) {
  const { slug } = useWorkspace()
  return useQuery({ ...operationQuery(slug, operation, input), ...options })
}

/** Calls a writing operation in the current workspace; then reads the named operations again. */
export function useChange<I extends OperationId>(operation: I, invalidates: readonly OperationId[] = []) {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: OperationInput<I>): Promise<OperationAnswer<I>> => call(operation, input, slug),
    onSettled: () => Promise.all(invalidates.map((name) => client.invalidateQueries({ queryKey: [slug, name] }))),
  })
}
