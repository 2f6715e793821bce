import { expect, test } from 'vitest'
import { currencyOptions, timeZoneOptions, weekdayOptions } from './choices.ts'

test('weekdays begin with Monday, and 0 is Sunday', () => {
  expect(weekdayOptions('en')[0]).toEqual({ value: '1', name: 'Monday' })
  expect(weekdayOptions('de').at(-1)).toEqual({ value: '0', name: 'Sonntag' })
})

test('time zones have UTC, and names without underscores', () => {
  const options = timeZoneOptions()
  expect(options[0]).toEqual({ value: 'UTC', name: 'UTC' })
  expect(options).toContainEqual({ value: 'America/New_York', name: 'America/New York' })
})

test('currencies have the code that the API takes', () => {
  expect(currencyOptions('en')).toContainEqual({ value: 'eur', name: 'EUR Euro' })
})
