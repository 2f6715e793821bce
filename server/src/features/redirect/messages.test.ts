import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyClick } from '../../../test/raw-clicks.ts'
import { isRawClick, rawClick } from './messages.ts'

test('isRawClick accepts exactly what the schema accepts', () => {
  const other = fc.oneof(fc.constant(undefined), fc.constant(null), fc.string(), fc.double(), fc.constant({}))
  const changed = fc
    .tuple(anyClick, fc.constantFrom(...Object.keys(rawClick.shape)), other)
    .map(([click, name, value]) => ({ ...click, [name]: value }))
  fc.assert(
    fc.property(fc.oneof(anyClick, changed, other), (value) => {
      expect(isRawClick(value)).toBe(rawClick.safeParse(value).success)
    }),
    { numRuns: 1_000 },
  )
})
