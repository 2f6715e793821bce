import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer } from '@tributary/contract/client'
import { useCallback } from 'react'
import { call } from '../../app/call.ts'
import { operationQuery, useOperation } from '../../app/queries.ts'
import { type RowList, useRows } from '../../app/rows.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { type CustomersSearch, customerFilters, customersQuery } from './search.ts'

export type Customer = OperationAnswer<'getCustomers'>[number]
export type CustomerList = RowList<Customer>
export type Journey = OperationAnswer<'getCustomerJourney'>
export type JourneyEvent = Journey['events'][number]

const eventsPerPage = 50
const erasureMs = 1_500

/** Customers of the address's filters in its order, and how many there are. */
export function useCustomers(search: CustomersSearch) {
  const { data: total } = useOperation('getCustomersCount', { query: customerFilters(search) })
  return { ...useRows('getCustomers', customersQuery(search), total), total }
}

export function useCustomer(id: string) {
  const { data, isPlaceholderData, ...rest } = useOperation('getCustomer', {
    params: { id },
    query: { includeExpandedFields: 'true' },
  })
  return { ...rest, customer: isPlaceholderData ? undefined : data }
}

/** The events of a customer's journey, page after page. */
export function useJourney(id: string, sortOrder: 'asc' | 'desc') {
  const { slug } = useWorkspace()
  return useInfiniteQuery({
    queryKey: [slug, 'getCustomerJourney', id, sortOrder],
    queryFn: async ({ pageParam, signal }) => {
      let next: string | null = null
      const query = { sortOrder, pageSize: eventsPerPage, ...(pageParam && { cursor: pageParam }) }
      const onHeaders = (headers: Headers) => {
        next = headers.get('x-next-cursor')
      }
      const journey = await call('getCustomerJourney', { params: { id }, query, signal, onHeaders }, slug)
      return { journey, next: next as string | null }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: undefined,
  })
}

/** How far the erasure of a deleted customer is; read again until it is done. */
export function useErasure(id: string) {
  const { slug } = useWorkspace()
  return useQuery({
    ...operationQuery(slug, 'getCustomerErasure', { params: { id } }),
    refetchInterval: ({ state }) => (state.error || state.data?.status === 'erased' ? false : erasureMs),
    placeholderData: undefined,
  })
}

/** Reads again what shows customers. */
export function useReadCustomersAgain(): () => void {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  return useCallback(() => {
    for (const name of ['getCustomers', 'getCustomersCount', 'listEvents', 'getCustomerJourney']) {
      // A list that is opened later must not show an erased person, not even for a moment.
      client.removeQueries({ queryKey: [slug, name], type: 'inactive' })
      void client.invalidateQueries({ queryKey: [slug, name] })
    }
  }, [client, slug])
}
