import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useMinute } from '../../ui/minute.ts'
import { Panel } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { homePeriods } from '../home/periods.ts'
import { TopCountries, TopDevices, TopSources } from '../home/top-lists.tsx'
import { useWorkspaceSettings } from './queries.ts'

/** Where the clicks of a link came from in the last 30 days. */
export function LinkBreakdowns({ linkId }: { linkId: string }) {
  const { timeZone } = useWorkspaceSettings()
  const { monthStart } = homePeriods(useMinute(), timeZone)
  const { data, error, refetch } = useOperation('retrieveAnalyticsBatch', {
    body: {
      ...{ event: 'composite', linkId, start: monthStart, timezone: timeZone, limit: 5 },
      groupBy: ['referers', 'countries', 'devices'],
    },
  })
  if (error && !data) {
    return (
      <Panel>
        <ErrorMessage error={error} retry={() => void refetch()} />
      </Panel>
    )
  }
  if (!data) return <Skeleton className="h-40 w-full" />
  return (
    <div className="grid gap-4 xl:grid-cols-3">
      <TopSources rows={data.referers ?? []} />
      <TopCountries rows={data.countries ?? []} />
      <TopDevices rows={data.devices ?? []} />
    </div>
  )
}
