import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseFilterValues } from '../events/service.ts'
import { combineFilters, writeFilter } from './filter.ts'

const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => !/^\s|\s$/u.test(text))
const filter = fc.record({
  values: fc.uniqueArray(fc.oneof(fc.constantFrom('DE', 'FR', 'a,b', '-x', 'b\\'), value), {
    minLength: 1,
    maxLength: 4,
  }),
  excluded: fc.boolean(),
})
const matches = ({ values, excluded }: { values: string[]; excluded: boolean }, given: string) =>
  values.includes(given) !== excluded

describe('combineFilters', () => {
  test('matches a value exactly if both filters match it', () => {
    fc.assert(
      fc.property(filter, filter, value, (one, other, free) => {
        const both = combineFilters(one, other)
        for (const given of [free, ...one.values, ...other.values]) {
          const expected = matches(one, given) && matches(other, given)
          expect(both === 'none' ? false : matches(both, given)).toBe(expected)
        }
      }),
    )
  })
})

describe('writeFilter', () => {
  test('writes what the parser of query parameters reads', () => {
    fc.assert(
      fc.property(filter, (given) => {
        expect(parseFilterValues('country', writeFilter(given))).toEqual(given)
      }),
    )
  })
})
