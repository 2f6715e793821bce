import { expect, test } from 'vitest'
import { isFiltered, linkFilters, linksQuery, nextSort, parseLinksSearch, viewQuery } from './search.ts'

test('an address with unknown values opens the page without them', () => {
  const given = { search: 'a', sort: 'nothing', order: 'up', period: '30d', archived: 'true', folder: ['x'], more: 1 }
  expect(parseLinksSearch(given)).toEqual({ search: 'a', archived: true })
})

test('a search for digits stays a text', () => {
  expect(parseLinksSearch({ search: 44 })).toEqual({ search: '44' })
})

test('filters of the address become those of the operation', () => {
  expect(linkFilters({ search: 'a', tags: 'tag_1,tag_2', folder: 'fold_1', archived: true }, 'UTC')).toEqual({
    search: 'a',
    tagIds: 'tag_1,tag_2',
    folderId: 'fold_1',
    showArchived: 'true',
  })
  expect(linksQuery({ sort: 'clicks', order: 'asc' }, 'UTC')).toMatchObject({ sortBy: 'clicks', sortOrder: 'asc' })
})

test('a second click on a column sorts the other way', () => {
  expect(nextSort({}, 'createdAt')).toEqual({ sort: 'createdAt', order: 'asc' })
  expect(nextSort({ sort: 'clicks', order: 'asc' }, 'clicks')).toEqual({ sort: 'clicks', order: undefined })
  expect(nextSort({ sort: 'clicks', order: 'asc' }, 'saleAmount')).toEqual({ sort: 'saleAmount', order: undefined })
})

test('creator, partner, state and day of creation are filters too', () => {
  const search = { creator: 'user_1', partner: 'pn_1', state: 'expired', created: '2026-01-01..2026-01-01' } as const
  expect(linkFilters(search, 'UTC')).toEqual({
    userId: 'user_1',
    partnerId: 'pn_1',
    state: 'expired',
    start: '2026-01-01T00:00:00.000Z',
    end: '2026-01-02T00:00:00.000Z',
  })
})

test('a saved view has all of the address but its own id', () => {
  const search = parseLinksSearch({ view: 'view_1', archived: true, sort: 'clicks', columns: 'tags,clicks' })
  expect(viewQuery(search)).toEqual({ archived: 'true', sort: 'clicks', columns: 'tags,clicks' })
  expect(parseLinksSearch(viewQuery(search))).toEqual({ archived: true, sort: 'clicks', columns: 'tags,clicks' })
})

test('archived links alone are no filter', () => {
  expect(isFiltered({ archived: true })).toBe(false)
  expect(isFiltered({ domain: 'a.example' })).toBe(true)
})
