import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { useCursorList } from '../../app/cursor-list.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { FilterBar, filterList } from '../../ui/filter-bar.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { DeliveriesTable } from './deliveries-table.tsx'
import { useDeliveryFilters } from './delivery-filters.tsx'
import type { DeliveriesSearch } from './search.ts'
import type { Delivery, Webhook } from './webhook-values.ts'

const DeliveryDrawer = lazy(async () => ({ default: (await import('./delivery-drawer.tsx')).DeliveryDrawer }))
const ResendFailed = lazy(async () => ({ default: (await import('./resend-failed.tsx')).ResendFailed }))
const route = getRouteApi('/$workspace/settings/webhooks/$id')
const pendingPollMs = 2_000
const pollMs = 10_000

/** The deliveries of the last 30 days, newest first; one of them is open in a drawer. */
export function DeliveriesPanel({ webhook }: { webhook: Webhook }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { delivery: open, status, event } = route.useSearch()
  const navigate = route.useNavigate()
  const change = useCallback(
    (changed: Partial<DeliveriesSearch>, replace = false) =>
      void navigate({ search: (before: DeliveriesSearch) => ({ ...before, ...changed }), replace, resetScroll: false }),
    [navigate],
  )
  const { list, isStale, error, refetch, onRange } = useCursorList(
    'listWebhookDeliveries',
    { params: { id: webhook.id }, query: { ...(status && { status }), ...(event && { event }) } },
    { rowId: ({ eventId }) => eventId, refetchMs: pollPause },
  )
  const filters = useDeliveryFilters({ status, event }, change)
  const [openFilter, setOpenFilter] = useState<string>()
  const [isResending, setResending] = useState(false)
  useCommands([
    { id: 'deliveries.filter', name: t`Filter deliveries`, keys: 'f', run: () => setOpenFilter(filterList) },
  ])
  const isEmpty = list?.count === 0 && !isStale
  const isFiltered = status !== undefined || event !== undefined
  return (
    <Section
      title={<Trans>Deliveries</Trans>}
      description={<Trans>Of the last 30 days, newest first. A failed one is sent again by itself, for a day.</Trans>}
      actions={
        can('webhooks.write') && (
          <Button disabled={webhook.disabledAt !== null} onClick={() => setResending(true)}>
            <Trans>Resend failed</Trans>
          </Button>
        )
      }
    >
      <div className="-mb-3">
        <FilterBar filters={filters} open={openFilter} onOpen={setOpenFilter} />
      </div>
      <Panel>
        {error && (!list || isStale) ? (
          <ErrorMessage error={error} retry={refetch} />
        ) : !list ? (
          <RowsLoading />
        ) : isEmpty ? (
          <NoDeliveries isFiltered={isFiltered} onClear={() => change({ status: undefined, event: undefined })} />
        ) : (
          <DeliveriesTable
            list={list}
            onRange={onRange}
            onOpen={(delivery) => change({ delivery: delivery.eventId })}
            isDimmed={isStale}
          />
        )}
      </Panel>
      <Suspense>
        {open && (
          <DeliveryDrawer
            key={webhook.id}
            webhook={webhook}
            eventId={open}
            list={list}
            onStep={(delivery) => change({ delivery: delivery.eventId }, true)}
            onClose={() => change({ delivery: undefined }, true)}
          />
        )}
        {isResending && <ResendFailed webhook={webhook} onClose={() => setResending(false)} />}
      </Suspense>
    </Section>
  )
}

/** Pending deliveries may change at any second. */
function pollPause(rows: readonly Delivery[]): number {
  return rows.some(({ status }) => status === 'pending') ? pendingPollMs : pollMs
}

function NoDeliveries({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  if (isFiltered) {
    return (
      <Message
        title={<Trans>No delivery matches</Trans>}
        action={
          <Button onClick={onClear}>
            <Trans>Clear filters</Trans>
          </Button>
        }
      />
    )
  }
  return (
    <Message title={<Trans>Nothing sent yet</Trans>}>
      <p>
        <Trans>
          Deliveries appear as soon as one of the triggers fires. A test event shows that the receiver answers.
        </Trans>
      </p>
    </Message>
  )
}
