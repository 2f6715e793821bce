import { expect, test } from 'vitest'
import { chooseDimension, chosenDimension, parseAnalyticsSearch, viewQuery } from './analytics-search.ts'

test('defaults and what is unknown are not in the address', () => {
  const given = {
    measure: 'clicks',
    chart: 'pie',
    compare: 'previous',
    order: 'highest',
    tabs: 'top_links,os,x',
    country: 'DE',
  }
  expect(parseAnalyticsSearch(given)).toEqual({ compare: 'previous', tabs: 'os', country: 'DE' })
})

test('a card shows its first dimension, or the one that the address names', () => {
  expect(chosenDimension('devices', undefined)).toBe('devices')
  expect(chosenDimension('devices', 'utm_terms,os')).toBe('os')
  expect(chooseDimension('utm_terms,os', 'devices', 'devices')).toBe('utm_terms')
  expect(chooseDimension(undefined, 'locations', 'cities')).toBe('cities')
})

test('a view keeps everything but its own id', () => {
  expect(viewQuery({ view: 'view_1', country: '-DE', period: 'mtd', measure: 'sales' })).toEqual({
    country: '-DE',
    period: 'mtd',
    measure: 'sales',
  })
})
