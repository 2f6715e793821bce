import { expect, test } from 'vitest'
import { isUnfinished, isWithin, readSearch, sharedQuery, toggleFilter, writeSearch } from './shared-search.ts'

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

test('what reaches now is unfinished, unless the page ended before', () => {
  const [open, ended] = [null, '2026-05-10T22:00:00Z']
  expect(isUnfinished({ period: '30d', end: open }, {}, moment)).toBe(true)
  expect(isUnfinished({ period: '30d', end: open }, { period: 'yesterday' }, moment)).toBe(false)
  expect(isUnfinished({ period: 'yesterday', end: open }, { period: 'all' }, moment)).toBe(true)
  expect(isUnfinished({ period: null, end: '2026-05-20T22:00:00Z' }, {}, moment)).toBe(true)
  expect(isUnfinished({ period: null, end: ended }, {}, moment)).toBe(false)
  expect(isUnfinished({ period: null, end: ended }, { period: '2026-05-01..2026-05-10' }, moment)).toBe(false)
})
