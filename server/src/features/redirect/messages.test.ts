import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRawClick, type RawClick, rawClick } from './messages.ts'

const text = fc.string({ unit: 'binary', maxLength: 60 })
const anyClick: fc.Arbitrary<RawClick> = fc.record({
  id: text,
  at: fc.maxSafeInteger(),
  workspaceId: text,
  linkNumber: text,
  url: text,
  trigger: fc.constantFrom('link', 'qr', 'pageview'),
  ip: text,
  userAgent: text,
  referer: text,
  bot: text,
  country: text,
  region: text,
  city: text,
  continent: text,
})

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
