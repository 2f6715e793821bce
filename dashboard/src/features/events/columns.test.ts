import { expect, test } from 'vitest'
import { chooseColumns, columnsFor, filterValue, preferColumns, readUtm, toggleColumn } from './columns.ts'
import type { FeedEvent } from './feed.ts'

test('columns of sales are only for sales', () => {
  expect(columnsFor('clicks')).not.toContain('name')
  expect(columnsFor('leads')).toContain('customer')
  expect(columnsFor('leads')).not.toContain('amount')
  expect(columnsFor('sales')).toContain('invoice')
})

test('each kind has its own choice, which can be empty', () => {
  expect(chooseColumns('clicks', null)).toMatchObject({ isDefault: true })
  const preferred = preferColumns('leads', toggleColumn(['link', 'os'], 'country'), ['clicks:ip'])
  expect(preferred).toEqual(['clicks:ip', 'leads:link', 'leads:country', 'leads:os'])
  expect(chooseColumns('leads', preferred)).toEqual({ names: ['link', 'country', 'os'], isDefault: false })
  expect(chooseColumns('clicks', preferred).names).toEqual(['ip'])
  expect(chooseColumns('sales', preferred)).toMatchObject({ isDefault: true })
  expect(chooseColumns('clicks', ['clicks:no-such-column']).names).toEqual([])
  expect(chooseColumns('leads', preferColumns('leads', [], null))).toEqual({ names: [], isDefault: false })
  expect(preferColumns('leads', undefined, preferred)).toEqual(['clicks:ip'])
  expect(preferColumns('clicks', undefined, ['clicks:ip'])).toBeNull()
})

test('UTM values are those of the destination, as the server reads them', () => {
  expect(readUtm('https://a.example/?utm_source=a%2Cb&utm_term=x#utm_source=no', 'utm_source')).toBe('a,b')
  expect(readUtm('https://a.example/#?utm_source=no', 'utm_source')).toBe('')
  expect(readUtm('not an address?utm_source=yes', 'utm_source')).toBe('yes')
  expect(Array.from(readUtm(`https://a.example/?utm_source=${'😀'.repeat(300)}`, 'utm_source'))).toHaveLength(255)
})

test('an event without a link has no value to filter by', () => {
  const event = { link: { id: 'link_none' }, click: { url: '', country: 'Unknown' } } as FeedEvent
  expect(filterValue('link', event)).toBe('')
  expect(filterValue('country', event)).toBe('Unknown')
})
