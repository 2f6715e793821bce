import { expect, test } from 'vitest'
import { confirmationText, countryName, customerName, formatDuration } from './texts.ts'

const nobody = { id: 'cus_1', name: null, email: null, externalId: '' }

test('a customer is called by the first of its names that can be seen', () => {
  expect(customerName({ ...nobody, name: 'Ada', email: 'ada@example.com' })).toBe('Ada')
  expect(customerName({ ...nobody, name: '\u200B \u202E', email: 'ada@example.com' })).toBe('ada@example.com')
  expect(customerName({ ...nobody, externalId: 'user-1' })).toBe('user-1')
  expect(customerName(nobody)).toBe('cus_1')
})

test('a name that can not be typed as it looks is confirmed by the id', () => {
  expect(confirmationText({ ...nobody, name: 'Ada King' })).toBe('Ada King')
  for (const name of ['Ada  King', 'Ada\u00A0King', 'Ada\u202EgniK', ' Ada', '<b>Ada</b>']) {
    expect(confirmationText({ ...nobody, name })).toBe('cus_1')
  }
})

test('a duration has its two largest units', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  expect(formatDuration(12_345, 'en')).toBe('12 seconds')
  expect(formatDuration(5 * minute + 1, 'en')).toBe('5 minutes')
  expect(formatDuration(3 * day + 4 * hour + 5 * minute, 'en')).toBe('3 days 4 hours')
  expect(formatDuration(3 * day + 5 * minute, 'en')).toBe('3 days')
  expect(formatDuration(hour + minute, 'de')).toMatch(/^1 Stunde(,| und) 1 Minute$/)
  expect(formatDuration(-5, 'en')).toBe('0 seconds')
})

test('a country has its name, and an unknown one none', () => {
  expect(countryName('DE', 'en')).toBe('Germany')
  expect(countryName('QX', 'en')).toBe('QX')
  for (const code of [null, '', 'Unknown', '<b>']) expect(countryName(code, 'en')).toBeUndefined()
})
