import { expect, test } from 'vitest'
import { auditFilters, isFiltered, parseAuditSearch } from './search.ts'

test('the address has the filters and the open entry, and nothing else', () => {
  const address = { actor: 'user_1', operation: 'updateLink', object: ' link_1 ', days: '7d', entry: '12', other: 1 }
  expect(parseAuditSearch(address)).toEqual({
    ...{ actor: 'user_1', operation: 'updateLink', object: 'link_1', days: '7d', entry: 12 },
  })
  expect(parseAuditSearch({ actor: 1, object: ' ', days: 'some', entry: -1 })).toEqual({})
})

test('days are those of the time zone', () => {
  const search = { operation: 'updateLink', days: '2026-01-01..2026-01-31' }
  expect(auditFilters(search, 'Europe/Berlin')).toEqual({
    operation: 'updateLink',
    start: '2025-12-31T23:00:00.000Z',
    end: '2026-01-31T23:00:00.000Z',
  })
})

test('an open entry is not a filter', () => {
  expect(isFiltered({ entry: 3 })).toBe(false)
  expect(isFiltered({ entry: 3, actor: 'user_1' })).toBe(true)
})
