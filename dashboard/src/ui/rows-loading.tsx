import { Trans } from '@lingui/react/macro'
import { Skeleton } from './skeleton.tsx'

/** The first load of a list. */
export function RowsLoading() {
  return (
    <div role="status">
      <span className="sr-only">
        <Trans>Loading</Trans>
      </span>
      {Array.from({ length: 4 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars are alike
        <div key={index} className="flex h-11 items-center gap-6 border-b px-3.5 last:border-b-0">
          <Skeleton className="w-48 max-w-full" />
          <Skeleton className="ml-auto w-20 max-md:hidden" />
        </div>
      ))}
    </div>
  )
}
