import { expect, test } from 'vitest'
import { parseDomainsSearch } from './search.ts'

test('the address has search and archived domains, and nothing else', () => {
  expect(parseDomainsSearch({ search: 'go', archived: 'true', other: 1 })).toEqual({ search: 'go', archived: true })
  expect(parseDomainsSearch({ search: 42 })).toEqual({ search: '42' })
  expect(parseDomainsSearch({ search: '', archived: 'maybe' })).toEqual({})
})
