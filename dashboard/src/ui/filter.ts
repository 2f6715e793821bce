import type { ReactNode } from 'react'

export type Filter = {
  id: string
  name: string
  /** Names of the chosen values; empty when the filter is not set. */
  chosen: readonly string[]
  clear(): void
  /** The options; `onDone` closes them. */
  content(onDone: () => void): ReactNode
}
