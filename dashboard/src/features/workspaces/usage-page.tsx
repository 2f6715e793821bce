import { Trans, useLingui } from '@lingui/react/macro'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { LineChart } from '../../charts/line-chart.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatDay, formatNumber, formatShort } from '../../ui/format.ts'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import type { Usage } from './usage.ts'
import { UsageTable } from './usage-table.tsx'

/** What the workspace has and what it may have; events of this month by day. */
export function UsagePage() {
  const { slug } = useWorkspace()
  const { data: usage, error, refetch } = useOperation('getWorkspaceUsage', { params: { idOrSlug: slug } })
  if (!usage) {
    return <Panel>{error ? <ErrorMessage error={error} retry={() => void refetch()} /> : <RowsLoading />}</Panel>
  }
  const { plan } = usage
  return (
    <>
      <EventsOfMonth usage={usage} />
      <Section
        title={<Trans>Limits</Trans>}
        description={
          <Trans>
            This workspace has the plan {plan}. The operator of this server sets the limits, so that no workspace slows
            down the others.
          </Trans>
        }
      >
        <UsageTable usage={usage} />
      </Section>
    </>
  )
}

function EventsOfMonth({ usage: { month, events, eventsByDay } }: { usage: Usage }) {
  const { t } = useLingui()
  const locale = useLocale()
  const name = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    Date.parse(`${month}-01`),
  )
  const total = formatNumber(events.used, locale)
  return (
    <Section
      title={<Trans>Events in {name}</Trans>}
      description={
        <Trans>{total} clicks, leads and sales since the first of the month, in UTC. They have no limit.</Trans>
      }
    >
      <Panel className="px-4 py-3">
        <LineChart
          points={eventsByDay.map(({ day, events }) => ({ name: formatDay(day, locale, 'UTC'), value: events }))}
          description={t`Events by day in ${name}: ${total} in all`}
          columns={[<Trans key="day">Day</Trans>, <Trans key="events">Events</Trans>]}
          format={(value) => formatNumber(value, locale)}
          formatTick={(value) => formatShort(value, locale)}
          className="text-clicks"
          partial
        />
      </Panel>
    </Section>
  )
}
