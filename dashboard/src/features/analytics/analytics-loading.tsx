import { Trans } from '@lingui/react/macro'
import { Page, Panel } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

/** The first load. */
export function AnalyticsLoading() {
  return (
    <Page title={<Trans>Analytics</Trans>}>
      <div role="status">
        <span className="sr-only">
          <Trans>Loading</Trans>
        </span>
        <Panel className="grid h-96 grid-cols-4 gap-6 p-4 max-md:grid-cols-2">
          {[0, 1, 2, 3].map((index) => (
            <span key={index} className="flex flex-col gap-2">
              <Skeleton className="w-16" />
              <Skeleton className="h-7 w-24" />
            </span>
          ))}
        </Panel>
      </div>
    </Page>
  )
}
