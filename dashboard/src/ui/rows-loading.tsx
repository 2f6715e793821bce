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

/** The first load of a table whose rows have two lines. */
export function TableLoading() {
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
