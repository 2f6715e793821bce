import type { OperationAnswer } from '@tributary/contract/client'

export type ViewQuery = Record<string, string>
export type View = OperationAnswer<'listViews'>[number]
export type Screen = View['screen']

export type ViewsProps = {
  screen: Screen
  /** What the screen shows now. */
  query: ViewQuery
  viewId: string | undefined
  onOpen(view: View): void
  onLeave(): void
}

/** Whether two views show the same: the same parameters, in any order. */
export function isSameQuery(one: ViewQuery, other: ViewQuery): boolean {
  const sorted = (query: ViewQuery) => JSON.stringify(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1)))
  return sorted(one) === sorted(other)
}
