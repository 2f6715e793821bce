import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import type { AnalyticsSearch, ChangeAnalytics } from './analytics-search.ts'
import { isFiltered, unsetFilters } from './event-search.ts'
import { type Counts, measures } from './measures.ts'

export function hasNoEvents(counts: Counts): boolean {
  return measures.every((measure) => counts[measure] === 0)
}

/** Leads from a period without events to the default one. */
export function ShowLastDays({ onShow }: { onShow(): void }) {
  return (
    <Button onClick={onShow}>
      <Trans>Show the last 30 days</Trans>
    </Button>
  )
}

/** Instead of cards without rows: what to do next. */
export function EmptyPeriod({ search, change }: { search: AnalyticsSearch; change: ChangeAnalytics }) {
  // All time and the last 30 days have no better period to lead to.
  const isOther = search.period !== undefined && search.period !== 'all'
  return (
    <Panel>
      {isFiltered(search) ? (
        <Message
          title={<Trans>No event of this period matches the filters</Trans>}
          action={
            <>
              <Button onClick={() => change(unsetFilters(search))}>
                <Trans>Clear filters</Trans>
              </Button>
              {isOther && <ShowLastDays onShow={() => change({ period: undefined })} />}
            </>
          }
        />
      ) : (
        <Message
          title={<Trans>Nothing happened in this period</Trans>}
          action={
            isOther ? (
              <ShowLastDays onShow={() => change({ period: undefined })} />
            ) : (
              <Button asChild>
                <Link from="/$workspace" to="/$workspace/links">
                  <Trans>Open your links</Trans>
                </Link>
              </Button>
            )
          }
        >
          {!isOther && (
            <p>
              <Trans>Share a link, and each click appears here a second or two later.</Trans>
            </p>
          )}
        </Message>
      )}
    </Panel>
  )
}
