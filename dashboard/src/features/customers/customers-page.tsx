import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useCommands } from '../../app/commands.ts'
import { ErrorMessage } from '../../app/errors.tsx'
import { useWorkspace } from '../../app/workspace.ts'
import { FilterBar, filterList } from '../../ui/filter-bar.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { focusRow } from '../../ui/row-focus.ts'
import { TableLoading } from '../../ui/rows-loading.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useCustomerFilters } from './customer-filters.tsx'
import { NoCustomers, NoMatch, NotForRole } from './customers-states.tsx'
import { CustomersTable } from './customers-table.tsx'
import { useCustomers } from './queries.ts'
import { type CustomersSearch, isFiltered, nextSort, parseCustomersSearch } from './search.ts'

const route = getRouteApi('/$workspace/customers')

/** The people who became leads or buyers. */
export function CustomersPage() {
  const { can } = useWorkspace()
  return (
    <Page title={<Trans>Customers</Trans>}>
      {can('customers.read') ? (
        <Customers />
      ) : (
        <Panel>
          <NotForRole />
        </Panel>
      )}
    </Page>
  )
}

function Customers() {
  const { t } = useLingui()
  const given = route.useSearch()
  const search = useMemo(() => parseCustomersSearch(given), [given])
  const navigate = route.useNavigate()
  const change = useCallback(
    (changed: Partial<CustomersSearch>, replace = false) =>
      void navigate({ search: (before: CustomersSearch) => ({ ...before, ...changed }), replace, resetScroll: false }),
    [navigate],
  )
  const { list, total, key, error, refetch, isStale, onRange } = useCustomers(search)
  const filters = useCustomerFilters(search, change)
  const [openFilter, setOpenFilter] = useState<string>()
  const searchField = useRef<HTMLInputElement>(null)
  const group = t`List of customers`
  useCommands([
    { id: 'customers.search', name: t`Search customers`, keys: '/', run: () => searchField.current?.focus() },
    { id: 'customers.filter', name: t`Filter customers`, keys: 'f', run: () => setOpenFilter(filterList) },
    { id: 'customers.next', name: t`Next customer`, group, keys: 'j', isOnlyKey: true, run: () => focusRow(1) },
    {
      id: 'customers.previous',
      name: t`Previous customer`,
      group,
      keys: 'k',
      isOnlyKey: true,
      run: () => focusRow(-1),
    },
  ])
  useScrollToTop(key)
  return (
    <>
      <FilterBar
        filters={filters}
        open={openFilter}
        onOpen={setOpenFilter}
        summary={list && total ? <Plural value={total} one="# customer" other="# customers" /> : undefined}
      >
        <SearchField
          ref={searchField}
          label={t`Search by name, e-mail or id`}
          value={search.search ?? ''}
          onChange={(text) => change({ search: text || undefined }, true)}
        />
      </FilterBar>
      <Panel>
        {error && (!list || isStale) ? (
          <ErrorMessage error={error} retry={refetch} />
        ) : !list ? (
          <TableLoading />
        ) : list.count === 0 && !isStale ? (
          isFiltered(search) ? (
            <NoMatch onClear={() => void navigate({ search: {} })} />
          ) : (
            <NoCustomers />
          )
        ) : (
          <CustomersTable
            {...{ list, onRange }}
            sort={{ by: search.sort ?? 'createdAt', isAscending: search.order === 'asc' }}
            onSort={(by) => change(nextSort(search, by))}
            isDimmed={isStale}
          />
        )}
      </Panel>
    </>
  )
}

/** Another filter or order begins at its first row. */
function useScrollToTop(key: string): void {
  const before = useRef(key)
  useEffect(() => {
    if (before.current !== key) scrollTo(0, 0)
    before.current = key
  }, [key])
}
