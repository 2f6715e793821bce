import type { OperationInput } from '@tributary/contract/client'

const sorts = ['createdAt', 'saleAmount', 'firstSaleAt'] as const
export type CustomerSort = (typeof sorts)[number]

export type FilterName = 'country' | 'link' | 'partner'

/** What the address of the list says: filters and order. Defaults are absent. */
export type CustomersSearch = {
  search?: string
  country?: string
  link?: string
  partner?: string
  sort?: CustomerSort
  order?: 'asc'
}
export type ChangeSearch = (changed: Partial<CustomersSearch>) => void

/** Reads the address; what it doesn't know is dropped. */
export function parseCustomersSearch(given: Record<string, unknown>): CustomersSearch {
  const text = (name: string) => {
    const value = given[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 200) || undefined : undefined
  }
  const country = text('country')?.toUpperCase()
  return dropUnset({
    search: text('search'),
    country: country && /^[A-Z]{2}$/.test(country) ? country : undefined,
    link: text('link'),
    partner: text('partner'),
    sort: sorts.find((name) => name === given.sort && name !== 'createdAt'),
    order: given.order === 'asc' ? ('asc' as const) : undefined,
  })
}

/** The filters as `GET /customers` and `GET /customers/count` take them. */
export function customerFilters({ search, country, link, partner }: CustomersSearch) {
  return dropUnset({ search, country, linkId: link, partnerId: partner })
}

export function isFiltered(search: CustomersSearch): boolean {
  return Object.keys(customerFilters(search)).length > 0
}

type CustomersQuery = NonNullable<OperationInput<'getCustomers'>['query']>

const customersPerPage = 100

export function customersQuery(search: CustomersSearch): CustomersQuery & { pageSize: number } {
  return {
    ...customerFilters(search),
    includeExpandedFields: 'true',
    sortBy: search.sort ?? 'createdAt',
    sortOrder: search.order ?? 'desc',
    pageSize: customersPerPage,
  }
}

/** The same column sorts the other way; another one begins with its highest values. */
export function nextSort(
  { sort = 'createdAt', order }: CustomersSearch,
  by: CustomerSort,
): Pick<CustomersSearch, 'sort' | 'order'> {
  const name = by === 'createdAt' ? undefined : by
  return { sort: name, order: by === sort && !order ? 'asc' : undefined }
}

function dropUnset<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
