import { expect, test } from 'vitest'
import { eventFilters, eventsQuery, isFiltered, parseEventSearch } from './event-search.ts'

test('the address has filters, period and nothing else', () => {
  expect(
    parseEventSearch({ country: 'DE,AT', tagId: '-tag_1', period: '7d', saleType: 'x', other: 'y', city: '' }),
  ).toEqual({
    country: 'DE,AT',
    tagId: '-tag_1',
    period: '7d',
  })
  expect(parseEventSearch({ utm_term: 2026, period: '30d' })).toEqual({ utm_term: '2026' })
})

test('the query has the filters with the names of the API, and the period in the time zone', () => {
  const moment = { now: new Date('2026-11-18T00:30:00Z'), timeZone: 'America/New_York', weekStart: 0 }
  expect(eventsQuery({ country: 'DE', period: '7d' }, moment)).toEqual({
    country: 'DE',
    start: '2026-11-11',
    timezone: 'America/New_York',
  })
})

test('a period is no filter', () => {
  expect(isFiltered({ period: '7d' })).toBe(false)
  expect(isFiltered({ customerId: 'cus_1' })).toBe(true)
  expect(eventFilters({ period: '7d', saleType: 'new' })).toEqual({ saleType: 'new' })
})
