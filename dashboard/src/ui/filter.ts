import type { ReactNode } from 'react'

export type Filter = {
  id: string
  name: string
  /** Names of the chosen values; empty when the filter is not set. */
  chosen: readonly string[]
  /** What stands between name and values, where there are several: is, is not. */
  operator?: string
  clear(): void
  /** The options; `onDone` closes them. */
  content(onDone: () => void): ReactNode
}
