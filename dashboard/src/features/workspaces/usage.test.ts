import { expect, test } from 'vitest'
import { usageNouns, usageState, usedPercent } from './usage.ts'

test('a share never exceeds its limit, and a limit of zero is used up', () => {
  expect(usedPercent({ used: 25, limit: 100 })).toBe(25)
  expect(usedPercent({ used: 250, limit: 100 })).toBe(100)
  expect(usedPercent({ used: 0, limit: 0 })).toBe(100)
  expect(usedPercent({ used: 7, limit: null })).toBeUndefined()
})

test('four fifths of a limit are high, and all of it is full', () => {
  expect([undefined, 79, 80, 99.9, 100].map(usageState)).toEqual(['low', 'low', 'high', 'high', 'full'])
})

test('each noun has one row', () => {
  expect(new Set(usageNouns).size).toBe(usageNouns.length)
})
