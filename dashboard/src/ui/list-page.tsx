import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Page, Panel } from './page.tsx'
import { SearchField } from './search-field.tsx'
import { Skeleton } from './skeleton.tsx'

type Props<T> = {
  title: ReactNode
  actions?: ReactNode
  /** Links to the pages beside this one. */
  beside?: ReactNode
  search: { label: string; value: string; onChange(value: string): void }
  items: readonly T[] | undefined
  itemId(item: T): string
  row(item: T): ReactNode
  /** What stands there instead of the list: why it failed, or what an empty one is for. */
  failure?: ReactNode
  empty: ReactNode
  isDimmed: boolean
  /** Whether there is more than is shown. */
  isCut: boolean
}

/** A page with a list of a few kinds of things, each in a line with its actions. */
export function ListPage<T>(props: Props<T>) {
  const { title, actions, beside, search, items, itemId, row, failure, empty, isDimmed, isCut } = props
  return (
    <Page title={title} actions={actions}>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <SearchField {...search} />
        {beside}
      </div>
      <Panel>
        {failure ? (
          failure
        ) : !items ? (
          <Loading />
        ) : items.length === 0 ? (
          empty
        ) : (
          <ul className={`text-sm ${isDimmed ? 'opacity-60' : ''}`}>
            {items.map((item) => (
              <li
                key={itemId(item)}
                className="flex min-h-11 flex-wrap items-center gap-x-3 border-b px-3.5 py-1 last:border-b-0"
              >
                {row(item)}
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {isCut && items && (
        <p className="mt-2 text-xs text-muted">
          <Trans>The first {items.length} are shown. Search to find others.</Trans>
        </p>
      )}
    </Page>
  )
}

function Loading() {
  return (
    <div role="status">
      <span className="sr-only">
        <Trans>Loading</Trans>
      </span>
      {['w-40', 'w-52', 'w-32', 'w-48'].map((width) => (
        <div key={width} className="flex h-11 items-center border-b px-3.5 last:border-b-0">
          <Skeleton className={width} />
        </div>
      ))}
    </div>
  )
}
