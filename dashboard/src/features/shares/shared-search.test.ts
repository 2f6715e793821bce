import { expect, test } from 'vitest'
import { isWithin, readSearch, sharedQuery, toggleFilter, writeSearch } from './shared-search.ts'

const moment = { now: new Date('2026-05-20T12:00:00Z'), timeZone: 'Europe/Berlin', weekStart: 1 }

test('the address has period and filters, and reading it gives the same', () => {
  const search = { period: '7d', country: 'DE,FR', referer: String.raw`-a\,b & c` }
  expect(readSearch(writeSearch(search))).toEqual(search)
  expect(readSearch('?period=30d')).toEqual({ period: '30d' })
  expect(readSearch('?period=2026-05-01..2026-05-03')).toEqual({ period: '2026-05-01..2026-05-03' })
  expect(writeSearch({})).toBe('')
})

test('what a visitor can not choose is ignored', () => {
  expect(readSearch('?period=fortnight&linkId=link_1&city=Berlin&country=')).toEqual({})
})

test('a named period means whole days in the time zone of the page; none is that of the owner', () => {
  expect(sharedQuery({ period: '7d', country: 'DE' }, moment)).toEqual({ country: 'DE', start: '2026-05-14' })
  expect(sharedQuery({ country: 'DE' }, moment)).toEqual({ country: 'DE' })
})

test('a value is added, and removed when it is chosen again', () => {
  const two = toggleFilter(toggleFilter({}, 'country', 'DE'), 'country', 'FR')
  expect(two).toEqual({ country: 'DE,FR' })
  expect(toggleFilter(toggleFilter(two, 'country', 'DE'), 'country', 'FR')).toEqual({})
  expect(toggleFilter({}, 'os', 'iOS', true)).toEqual({ os: '-iOS' })
})

test('own days must be within those of the page', () => {
  const bounds = { first: '2026-05-01', last: '2026-05-10' }
  expect(isWithin('2026-05-01..2026-05-10', bounds)).toBe(true)
  expect(isWithin('2026-04-30..2026-05-10', bounds)).toBe(false)
  expect(isWithin('2026-05-01..2026-05-11', bounds)).toBe(false)
})
