import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useId, useRef, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { RowsLoading } from '../../ui/rows-loading.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { DomainsTable } from './domains-table.tsx'
import { useDomains } from './queries.ts'
import type { DomainsSearch } from './search.ts'

// Opened by a button or its key.
const DomainDrawer = lazy(async () => ({ default: (await import('./domain-drawer.tsx')).DomainDrawer }))
const route = getRouteApi('/$workspace/domains')

/** The short-link domains of the workspace. */
export function DomainsPage() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { can } = useWorkspace()
  const canWrite = can('domains.write')
  const { data: domains, error, refetch, isPlaceholderData } = useDomains(search)
  const [isAdding, setAdding] = useState(false)
  const change = useCallback(
    (changed: Partial<DomainsSearch>) =>
      void navigate({ search: (before: DomainsSearch) => ({ ...before, ...changed }), replace: true }),
    [navigate],
  )
  const searchField = useRef<HTMLInputElement>(null)
  useCommands([
    { id: 'domains.search', name: t`Search domains`, keys: '/', run: () => searchField.current?.focus() },
    ...(canWrite ? [{ id: 'domains.add', name: t`Add domain`, keys: 'n', run: () => setAdding(true) }] : []),
  ])
  const add = canWrite && (
    <Button kind="first" onClick={() => setAdding(true)}>
      <Trans>Add domain</Trans>
      <Kbd>N</Kbd>
    </Button>
  )
  const isEmpty = domains?.length === 0 && !isPlaceholderData
  return (
    <Page title={<Trans>Domains</Trans>} actions={add}>
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <SearchField
          ref={searchField}
          label={t`Search domains`}
          value={search.search ?? ''}
          onChange={(text) => change({ search: text || undefined })}
        />
        <ArchivedToggle
          isShown={search.archived ?? false}
          onChange={(isShown) => change({ archived: isShown || undefined })}
        />
        <p role="status" className="text-sm text-muted">
          {domains && domains.length > 0 && <Plural value={domains.length} one="# domain" other="# domains" />}
        </p>
      </div>
      <Panel>
        {error && !domains ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !domains ? (
          <RowsLoading />
        ) : isEmpty && search.search ? (
          <NoMatch onClear={() => void navigate({ search: {} })} />
        ) : isEmpty ? (
          <NoDomains action={add} />
        ) : (
          <DomainsTable domains={domains} isDimmed={isPlaceholderData} />
        )}
      </Panel>
      <Suspense>{isAdding && canWrite && <DomainDrawer onClose={() => setAdding(false)} />}</Suspense>
    </Page>
  )
}

function ArchivedToggle({ isShown, onChange }: { isShown: boolean; onChange(isShown: boolean): void }) {
  const id = useId()
  return (
    <span className="flex min-h-8 items-center gap-2.5 text-sm max-md:min-h-11">
      <Checkbox id={id} checked={isShown} onCheckedChange={onChange} />
      <label htmlFor={id} className="cursor-pointer">
        <Trans>Show archived</Trans>
      </label>
    </span>
  )
}

function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <Message
      title={<Trans>No domain matches</Trans>}
      action={
        <Button onClick={onClear}>
          <Trans>Clear search</Trans>
        </Button>
      }
    >
      <p>
        <Trans>The search looks at names. Archived domains are hidden unless you show them.</Trans>
      </p>
    </Message>
  )
}

function NoDomains({ action }: { action: React.ReactNode }) {
  return (
    <Message title={<Trans>No domain of your own yet</Trans>} action={action}>
      <p>
        <Trans>
          People trust links on a name that they know, such as go.example.com. Until you add one, your links are on the
          shared domain of this server.
        </Trans>
      </p>
    </Message>
  )
}
