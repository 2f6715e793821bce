import { useLingui } from '@lingui/react/macro'
import { lazy } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import type { Filter } from '../../ui/filter.ts'
import { type ChangeEventSearch, type EventSearch, type FilterName, filterNames } from './event-search.ts'
import { useFilterNames } from './filter-names.ts'
import { parseValues } from './filter-values.ts'
import { filterTexts } from './names.ts'
import type { Moment } from './periods.ts'

const FilterOptions = lazy(async () => ({ default: (await import('./filter-options.tsx')).FilterOptions }))
const SaleTypeOptions = lazy(async () => ({ default: (await import('./filter-options.tsx')).SaleTypeOptions }))

const partnerFilters: readonly FilterName[] = ['partnerId', 'groupId', 'partnerTagId']

/** The filters of a page about events. Their options are the values that its period has, and load when they are opened. */
export function useEventFilters(search: EventSearch, change: ChangeEventSearch, moment: Moment): Filter[] {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const names = useFilterNames(search)
  const available = filterNames.filter((name) => can('partners.read') || !partnerFilters.includes(name))
  const filters = available.map((name): Filter => {
    const { values, isExcluded } = parseValues(search[name])
    return {
      id: name,
      name: t(filterTexts[name]),
      chosen: values.map((value) => names(name, value)),
      operator: isExcluded ? t`is not` : t`is`,
      clear: () => change({ [name]: undefined }),
      content: () => <FilterOptions name={name} search={search} change={change} moment={moment} />,
    }
  })
  const { saleType, customerId } = search
  const sales: Filter = {
    id: 'saleType',
    name: t`Sale`,
    chosen: saleType ? [saleType === 'new' ? t`First of a customer` : t`Repeated`] : [],
    clear: () => change({ saleType: undefined }),
    content: (onDone) => <SaleTypeOptions selected={saleType} change={change} onDone={onDone} />,
  }
  if (!customerId) return [...filters, sales]
  const customer: Filter = {
    id: 'customerId',
    name: t`Customer`,
    chosen: [names('customerId', customerId)],
    clear: () => change({ customerId: undefined }),
    content: () => <p className="w-64 p-3 text-sm text-muted">{t`Open a customer to filter by another one.`}</p>,
  }
  return [...filters, sales, customer]
}
