import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { Message } from '../../ui/message.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { TableLoading } from '../../ui/rows-loading.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useLinkActions } from './link-actions.ts'
import { useWorkspaceSettings } from './queries.ts'
import { shortAddress, shortDestination } from './texts.ts'

/** Links that were deleted in the last 30 days, each with a button that restores it. */
export function DeletedPage() {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { timeZone } = useWorkspaceSettings()
  const { restore } = useLinkActions()
  const [search, setSearch] = useState('')
  const query = { pageSize: 100, ...(search && { search }) }
  const { data, error, refetch, isPlaceholderData } = useOperation('listDeletedLinks', { query })
  return (
    <Page title={<Trans>Recently deleted</Trans>}>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <SearchField label={t`Search deleted links`} value={search} onChange={setSearch} />
        <RouteLink from="/$workspace" to="/$workspace/links" className="text-sm text-muted underline hover:text-ink">
          <Trans>All links</Trans>
        </RouteLink>
      </div>
      <Panel>
        {error && !data ? (
          <ErrorMessage error={error} retry={() => void refetch()} />
        ) : !data ? (
          <TableLoading />
        ) : data.length === 0 ? (
          <Message title={<Trans>Nothing to restore</Trans>}>
            <p>
              <Trans>
                Deleted links stay here for 30 days. They stop redirecting at once, and their address is free.
              </Trans>
            </p>
          </Message>
        ) : (
          <ul className={`text-sm ${isPlaceholderData ? 'opacity-60' : ''}`}>
            {data.map(({ link, deletedAt }) => (
              <li key={link.id} className="flex min-h-11 items-center gap-3 border-b px-3.5 py-1 last:border-b-0">
                <div className="min-w-0 flex-1">
                  <bdi className="block truncate font-medium">{shortAddress(link)}</bdi>
                  <bdi className="block truncate text-xs text-muted">{shortDestination(link.url)}</bdi>
                </div>
                <span className="text-xs text-muted">
                  <Time at={deletedAt} timeZone={timeZone} />
                </span>
                {can('links.write') && (
                  <Button size="small" aria-label={t`Restore ${shortAddress(link)}`} onClick={() => void restore(link)}>
                    <Trans>Restore</Trans>
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </Page>
  )
}
