import { Trans } from '@lingui/react/macro'

/** A thin line at the top of its area, for pages that load for the first time. */
export function Loading() {
  return (
    <div role="status" className="relative h-0.5 overflow-hidden">
      <div className="h-full w-1/3 animate-progress bg-accent" />
      <span className="sr-only">
        <Trans>Loading</Trans>
      </span>
    </div>
  )
}
