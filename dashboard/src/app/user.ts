import { useQuery } from '@tanstack/react-query'
import { operationQuery } from './queries.ts'

const userQuery = operationQuery(undefined, 'getUser')

/** The signed-in person; undefined until the server has answered. */
export function useUser() {
  return useQuery({ ...userQuery, staleTime: 300_000 }).data
}
