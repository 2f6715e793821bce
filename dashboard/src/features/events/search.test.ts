import { expect, test } from 'vitest'
import { isFilteredList, listQuery, liveMode, parseEventsSearch, streamQuery, visitorsQuery } from './search.ts'

const moment = { now: new Date('2026-11-18T12:00:00Z'), timeZone: 'UTC', weekStart: 1 }

test('the address has the kind of events, and nothing that is a default', () => {
  const address = { event: 'leads', bots: 'only', attributed: false, country: '-DE', period: '7d', other: 1 }
  expect(parseEventsSearch(address)).toEqual({
    ...{ event: 'leads', bots: 'only', attributed: 'false', country: '-DE', period: '7d' },
  })
  expect(parseEventsSearch({ event: 'clicks', bots: 'exclude', attributed: true })).toEqual({})
})

test('each kind takes its own filters', () => {
  const search = { bots: 'only', attributed: 'all', saleType: 'new', country: 'DE', period: '24h' } as const
  const shared = { country: 'DE', interval: '24h', timezone: 'UTC' }
  expect(listQuery(search, moment)).toEqual({ ...shared, event: 'clicks', bots: 'only' })
  expect(listQuery({ ...search, event: 'leads' }, moment)).toEqual({ ...shared, event: 'leads', attributed: 'all' })
  const sales = listQuery({ ...search, event: 'sales' }, moment)
  expect(sales).toEqual({ ...shared, event: 'sales', attributed: 'all', saleType: 'new' })
  expect(streamQuery(sales)).toEqual({ country: 'DE', event: 'sales', saleType: 'new' })
})

test('events without a link come by reading again, and a past period has no new ones', () => {
  expect(liveMode({}, moment)).toBe('stream')
  expect(liveMode({ event: 'leads', attributed: 'all' }, moment)).toBe('poll')
  expect(liveMode({ attributed: 'all' }, moment)).toBe('stream')
  expect(liveMode({ period: 'yesterday' }, moment)).toBe('none')
  expect(liveMode({ period: '2026-11-01..2026-11-18' }, moment)).toBe('stream')
})

test('a filter of another kind narrows nothing, and visitors take the filters of links', () => {
  expect(isFilteredList({ saleType: 'new' })).toBe(false)
  expect(isFilteredList({ event: 'sales', saleType: 'new' })).toBe(true)
  expect(isFilteredList({ period: '7d', attributed: 'all' })).toBe(false)
  expect(isFilteredList({ country: 'DE' })).toBe(true)
  expect(visitorsQuery({ country: 'DE', linkId: 'link_1', domain: 'go.example.com' })).toEqual({
    ...{ linkId: 'link_1', domain: 'go.example.com' },
  })
})
