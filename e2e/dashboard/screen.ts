import type { Page } from 'playwright-core'

export type Screen = {
  name: string
  /** Path below `/app/{workspace}`, or below the server's root if `isOutside`. */
  path: string
  isOutside?: boolean
  /** Slug of the workspace, if it is not the one with the sample data. */
  workspace?: string
  /** Whether guides show it: `npm run screenshots -- --docs` takes these. */
  isInDocs?: true
  /** Brings the page into the state to show: opens a dialog, types, waits. */
  prepare?: (page: Page) => Promise<void>
}
