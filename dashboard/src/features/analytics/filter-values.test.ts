import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatValues, parseValues, toggleValue } from './filter-values.ts'

test('values with commas, backslashes, dashes and spaces come back as they were', () => {
  const value = fc.string({ minLength: 1, unit: fc.constantFrom('a', ',', '\\', '-', ' ', '"', 'ü', '😀') })
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.boolean(), (values, isExcluded) => {
      expect(parseValues(formatValues({ values, isExcluded }))).toEqual({ values, isExcluded })
    }),
    { numRuns: 2_000 },
  )
})

test('blanks around values are left out', () => {
  expect(parseValues('-DE , San  Francisco')).toEqual({ values: ['DE', 'San  Francisco'], isExcluded: true })
})

test('a value is added, taken away, and begins anew with the other operator', () => {
  expect(toggleValue(undefined, 'DE')).toBe('DE')
  expect(toggleValue('DE', 'AT')).toBe('DE,AT')
  expect(toggleValue('DE,AT', 'DE')).toBe('AT')
  expect(toggleValue('DE', 'DE')).toBeUndefined()
  expect(toggleValue('DE', 'AT', true)).toBe('-AT')
  expect(toggleValue('-AT', 'CH', true)).toBe('-AT,CH')
})
