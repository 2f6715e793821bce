import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { useCursorList } from '../../app/cursor-list.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { FilterBar, filterList } from '../../ui/filter-bar.tsx'
import { Message } from '../../ui/message.tsx'
import { Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { Section } from '../../ui/section.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { useAuditFilters } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'
import { ExportMenu } from './export-menu.tsx'
import { type AuditSearch, auditFilters, isFiltered } from './search.ts'

const EntryDrawer = lazy(async () => ({ default: (await import('./entry-drawer.tsx')).EntryDrawer }))
const route = getRouteApi('/$workspace/settings/audit')
const pollMs = 10_000
const refetchMs = () => pollMs

/** Who changed what, newest first; one entry is open in a drawer. */
export function AuditPage() {
  return <AuditLog />
}

function AuditLog() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { timeZone } = useWorkspaceSettings()
  const change = useCallback(
    (changed: Partial<AuditSearch>, replace = false) =>
      void navigate({ search: (before: AuditSearch) => ({ ...before, ...changed }), replace, resetScroll: false }),
    [navigate],
  )
  const filters = useAuditFilters(search, change)
  const [openFilter, setOpenFilter] = useState<string>()
  const query = auditFilters(search, timeZone)
  const { list, isStale, error, refetch, onRange } = useCursorList(
    'listAuditLog',
    { query },
    { rowId: ({ sequence }) => String(sequence), refetchMs },
  )
  useCommands([{ id: 'audit.filter', name: t`Filter entries`, keys: 'f', run: () => setOpenFilter(filterList) }])
  const isEmpty = list?.count === 0 && !isStale
  return (
    <Section
      title={<Trans>Audit log</Trans>}
      description={
        <Trans>
          Every change of the workspace and every export, newest first. Each has a hash over itself and all before it,
          so that a changed entry is noticed.
        </Trans>
      }
      actions={<ExportMenu query={query} />}
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
          <NoEntries
            isFiltered={isFiltered(search)}
            onClear={() => change({ actor: undefined, operation: undefined, object: undefined, days: undefined })}
          />
        ) : (
          <AuditTable
            list={list}
            onRange={onRange}
            onOpen={({ sequence }) => change({ entry: sequence })}
            isDimmed={isStale}
          />
        )}
      </Panel>
      <Suspense>
        {search.entry !== undefined && (
          <EntryDrawer
            sequence={search.entry}
            list={list}
            onStep={({ sequence }) => change({ entry: sequence }, true)}
            onObject={(object) => change({ object, entry: undefined })}
            onClose={() => change({ entry: undefined }, true)}
          />
        )}
      </Suspense>
    </Section>
  )
}

function NoEntries({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  if (!isFiltered) {
    return (
      <Message title={<Trans>No entries yet</Trans>}>
        <p>
          <Trans>As soon as somebody creates a link, invites a member or makes a key, it is written down here.</Trans>
        </p>
      </Message>
    )
  }
  return (
    <Message
      title={<Trans>No entry matches</Trans>}
      action={
        <Button onClick={onClear}>
          <Trans>Clear filters</Trans>
        </Button>
      }
    />
  )
}
