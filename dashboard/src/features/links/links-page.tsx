import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { loadMessages } from '../../app/languages.ts'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { FilterBar, filterList } from '../../ui/filter-bar.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { TableLoading } from '../../ui/rows-loading.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useSeesAnalytics } from '../analytics/access.ts'
import { chooseColumns } from './columns.ts'
import { useLinkFilters } from './link-filters.tsx'
import { LinkMenu } from './link-menu.tsx'
import { CreateButton, PageActions } from './links-actions.tsx'
import { NoLinks, NoMatch } from './links-states.tsx'
import { LinksTable } from './links-table.tsx'
import { type Link, useLinkStats, useLinks, useWorkspaceSettings } from './queries.ts'
import { useRowKeys } from './row-keys.ts'
import { isFiltered, type LinksSearch, linkFilters, nextSort } from './search.ts'
import { useLinkSelection } from './selection.ts'

const loadBulkBar = async () => {
  const [module] = await Promise.all([import('../bulk-operations/bulk-bar.tsx'), loadMessages('bulk-operations')])
  return { default: module.BulkBar }
}
const BulkBar = lazy(loadBulkBar)
const route = getRouteApi('/$workspace/links')
const noLinks: Link[] = []
const menu = (link: Link) => <LinkMenu link={link} />

export function LinksPage() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { can } = useWorkspace()
  const change = useCallback(
    (changed: Partial<LinksSearch>, replace = false) =>
      void navigate({ search: (before: LinksSearch) => ({ ...before, ...changed }), replace, resetScroll: false }),
    [navigate],
  )
  const { timeZone } = useWorkspaceSettings()
  const { data: total } = useOperation('getLinksCount', { query: linkFilters(search, timeZone) })
  const { list, key, error, refetch, isStale, onRange } = useLinks(search, timeZone, total)
  const links = list?.loaded ?? noLinks
  const { data: preferences, isPending: isChoosing } = useOperation('getPreferences', {}, { staleTime: 300_000 })
  const preferred = preferences?.screens.links.columns
  const columns = useMemo(() => chooseColumns(search.columns, preferred), [search.columns, preferred])
  const isDense = preferences?.density === 'dense'
  const period = search.period ?? '30d'
  const stats = useLinkStats(links, { period, series: columns.names.includes('series'), timeZone })
  const filters = useLinkFilters(search, change)
  const [openFilter, setOpenFilter] = useState<string>()
  const ids = useMemo(() => links.map(({ id }) => id), [links])
  const selection = useLinkSelection(ids, JSON.stringify(linkFilters(search, timeZone)))
  const canWrite = can('links.write')
  const hasStats = useSeesAnalytics()
  useRowKeys(list, canWrite ? selection : undefined, openFilter !== undefined)
  const searchField = useRef<HTMLInputElement>(null)
  useCommands([
    { id: 'links.search', name: t`Search links`, keys: '/', run: () => searchField.current?.focus() },
    { id: 'links.filter', name: t`Filter links`, keys: 'f', run: () => setOpenFilter(filterList) },
  ])
  useScrollToTop(key)
  const isBulk = useBulkBar(canWrite, selection.ids.length > 0 || selection.isAll)
  const isEmpty = list?.count === 0 && !isStale
  return (
    <Page title={<Trans>Links</Trans>} actions={<PageActions {...{ search, change, columns, isDense, canWrite }} />}>
      <FilterBar
        filters={filters}
        open={openFilter}
        onOpen={setOpenFilter}
        summary={list && total ? <Plural value={total} one="# link" other="# links" /> : undefined}
      >
        <SearchField
          ref={searchField}
          label={t`Search links`}
          value={search.search ?? ''}
          onChange={(text) => change({ search: text || undefined }, true)}
        />
      </FilterBar>
      <Panel>
        {error && (!list || isStale) ? (
          <ErrorMessage error={error} retry={refetch} />
        ) : !list || isChoosing ? (
          <TableLoading />
        ) : isEmpty ? (
          isFiltered(search) ? (
            <NoMatch onClear={() => void navigate({ search: {} })} />
          ) : (
            <NoLinks action={canWrite && <CreateButton />} />
          )
        ) : (
          <LinksTable
            {...{ list, stats, isDense, onRange, ...columns }}
            hasStats={hasStats}
            sort={{ by: search.sort ?? 'createdAt', isAscending: search.order === 'asc' }}
            onSort={(by) => change(nextSort(search, by))}
            selection={canWrite ? selection : undefined}
            isDimmed={isStale}
            menu={canWrite ? menu : undefined}
          />
        )}
      </Panel>
      <Suspense>{isBulk && <BulkBar selection={selection} search={search} total={total ?? 0} />}</Suspense>
    </Page>
  )
}

/** Whether the bar for selected links is in the page: from the first selection on. It loads while nothing else happens. */
function useBulkBar(canWrite: boolean, isSelected: boolean): boolean {
  const wasSelected = useRef(false)
  if (canWrite && isSelected) wasSelected.current = true
  useEffect(() => {
    if (!canWrite) return
    const timer = setTimeout(() => void loadBulkBar().catch(() => {}), 1_500)
    return () => clearTimeout(timer)
  }, [canWrite])
  return wasSelected.current
}

/** Another filter or order begins at its first row. */
function useScrollToTop(key: string): void {
  const before = useRef(key)
  useEffect(() => {
    if (before.current !== key) scrollTo(0, 0)
    before.current = key
  }, [key])
}
