import { expect, test } from 'vitest'
import { customersQuery, isFiltered, nextSort, parseCustomersSearch } from './search.ts'

test('the address is read as far as it is known', () => {
  expect(parseCustomersSearch({ search: 4711, country: 'de', sort: 'saleAmount', order: 'asc', page: 3 })).toEqual({
    search: '4711',
    country: 'DE',
    sort: 'saleAmount',
    order: 'asc',
  })
  expect(parseCustomersSearch({ search: '', country: 'Germany', sort: 'createdAt', order: 'desc', link: {} })).toEqual(
    {},
  )
})

test('the query has the filters and the order of the address', () => {
  expect(customersQuery({ link: 'link_1', partner: 'pn_1', sort: 'firstSaleAt' })).toEqual({
    linkId: 'link_1',
    partnerId: 'pn_1',
    includeExpandedFields: 'true',
    sortBy: 'firstSaleAt',
    sortOrder: 'desc',
    pageSize: 100,
  })
  expect(isFiltered({ sort: 'saleAmount', order: 'asc' })).toBe(false)
  expect(isFiltered({ country: 'DE' })).toBe(true)
})

test('a column sorts from its highest values first, then the other way', () => {
  expect(nextSort({}, 'saleAmount')).toEqual({ sort: 'saleAmount', order: undefined })
  expect(nextSort({ sort: 'saleAmount' }, 'saleAmount')).toEqual({ sort: 'saleAmount', order: 'asc' })
  expect(nextSort({ sort: 'saleAmount', order: 'asc' }, 'saleAmount')).toEqual({ sort: 'saleAmount', order: undefined })
  expect(nextSort({}, 'createdAt')).toEqual({ sort: undefined, order: 'asc' })
})
