import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

/** The first load of the list. */
export function LinksLoading() {
  return (
    <div role="status">
      <span className="sr-only">
        <Trans>Loading</Trans>
      </span>
      <div className="h-9 border-b max-md:hidden" />
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars are alike
        <div key={index} className="flex h-11 items-center gap-6 border-b px-3.5 last:border-b-0 max-md:h-22">
          <span className="flex flex-1 flex-col gap-1.5">
            <Skeleton className="w-40" />
            <Skeleton className="h-2.5 w-64 max-w-full" />
          </span>
          <Skeleton className="w-20 max-md:hidden" />
          <Skeleton className="w-12 max-md:hidden" />
        </div>
      ))}
    </div>
  )
}

export function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <Message
      title={<Trans>No link matches</Trans>}
      action={
        <Button onClick={onClear}>
          <Trans>Clear search and filters</Trans>
        </Button>
      }
    >
      <p>
        <Trans>
          The search looks at short addresses and destinations. Archived links are hidden unless you show them.
        </Trans>
      </p>
    </Message>
  )
}

export function NoLinks({ action }: { action?: ReactNode }) {
  return (
    <Message title={<Trans>No links yet</Trans>} action={action}>
      <p>
        <Trans>
          A short link sends people to a page of yours and counts the clicks, leads and sales that it brings. One link
          per campaign, poster or newsletter shows which of them works.
        </Trans>
      </p>
    </Message>
  )
}
