import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, createClient, type OperationAnswer } from '@tributary/contract/client'
import type { Moment } from '../analytics/periods.ts'
import { type SharedSearch, sharedQuery } from './shared-search.ts'

export type SharedPage = Extract<OperationAnswer<'getSharePage'>, { isLocked: false }>
export type SharedStatistics = OperationAnswer<'retrieveShareAnalytics'>

const refreshMs = 60_000
const mostRows = 100
const groupBy = [
  ...(['count', 'timeseries', 'countries', 'continents', 'referers'] as const),
  ...(['devices', 'browsers', 'os', 'triggers'] as const),
]

// Calls as a visitor: the cookie of an unlocked page is the only credential.
const call = createClient({ url: location.origin, credentials: 'same-origin' })
const params = () => ({ id: decodeURIComponent(location.pathname.split('/')[2] ?? '') })

export function useSharedPage() {
  return useQuery({
    queryKey: ['page'],
    queryFn: ({ signal }) => call('getSharePage', { params: params(), signal }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: undefined,
  })
}

/** The figures of what is chosen, refreshed each minute. When the page was locked or ended meanwhile, reads the page again. */
export function useStatistics(search: SharedSearch, moment: Moment) {
  const client = useQueryClient()
  const body = { ...sharedQuery(search, moment), groupBy, limit: mostRows }
  return useQuery({
    queryKey: ['statistics', body],
    queryFn: async ({ signal }) => {
      try {
        return await call('retrieveShareAnalytics', { params: params(), body, signal })
      } catch (error) {
        if (hasStatus(error, 401, 404)) void client.resetQueries({ queryKey: ['page'] })
        throw error
      }
    },
    refetchInterval: refreshMs,
  })
}

/** Sends the password; the browser then has a cookie instead. */
export function unlockPage(password: string) {
  return call('unlockShare', { params: params(), body: { password } })
}

export function hasStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof ApiError && statuses.includes(error.status)
}
