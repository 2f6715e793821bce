import { expect, test } from 'vitest'
import { editData, missingField } from './edit-fields.ts'

test('an empty text removes the value, and a switch is true or false', () => {
  expect(editData({ comments: ' ', utm_source: ' news ', archived: 'off', trackConversion: 'on' })).toEqual({
    comments: null,
    utm_source: 'news',
    archived: false,
    trackConversion: true,
  })
})

test('a disabled link has the time, an enabled one has none', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  expect(editData({ disabled: 'on' }, now)).toEqual({ disabledAt: '2026-01-01T00:00:00.000Z' })
  expect(editData({ disabled: 'off' }, now)).toEqual({ disabledAt: null })
})

test('a link always needs a destination', () => {
  expect(missingField({ url: '' })).toBe('url')
  expect(missingField({ comments: '' })).toBeUndefined()
})
