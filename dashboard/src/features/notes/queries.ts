import type { OperationAnswer } from '@tributary/contract/client'
import { useOperation } from '../../app/queries.ts'

export type Note = OperationAnswer<'listNotes'>[number]

const mostShown = 100
const none: readonly Note[] = []

/** Notes on the days of a period, newest first; without days, of all time. */
export function useNotes(days: { from: string; to: string } | undefined): readonly Note[] {
  const { data = none } = useOperation('listNotes', { query: { ...days, pageSize: mostShown } })
  return data
}
