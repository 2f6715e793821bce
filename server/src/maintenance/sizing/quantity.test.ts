import { expect, test } from 'vitest'
import { formatBytes, formatCount, optionName, parseQuantity, shorten } from './quantity.ts'

test.each([
  ['250', 250],
  ['2.5k', 2_500],
  ['3K', 3_000],
  ['360M', 360_000_000],
  ['40G', 40_000_000_000],
  ['1T', 1e12],
  ['0', 0],
])('%s is a number', (text, value) => {
  expect(parseQuantity('links', text)).toBe(value)
})

test.each(['', 'many', '1e6', '3m', '5 M', '1,000', '.5', 'Infinity', 'NaN'])('"%s" is refused', (text) => {
  expect(() => parseQuantity('clicksPerDay', text)).toThrow(
    `--clicks-per-day is ${JSON.stringify(text)}. Give a number without commas or spaces, with k, M, G or T for thousands to trillions: 250, 2.5k, 360M, 40G.`,
  )
})

test('a negative number is refused as such', () => {
  expect(() => parseQuantity('clicksPerDay', '-5')).toThrow(`--clicks-per-day is "-5". Numbers can't be negative.`)
})

test('one of a thing is singular', () => {
  expect([0, 0.5, 1, 1.0001, 2, 1e6].map((value) => formatCount(value, 'click'))).toEqual([
    ...['0 clicks', '0.5 clicks', '1 click', '1 click', '2 clicks', '1M clicks'],
  ])
})

test('numbers are shortened to three digits, bytes are rounded up', () => {
  expect([0.1, 999, 1_000, 20_834, 40e9].map(shorten)).toEqual(['0.1', '999', '1k', '20.8k', '40G'])
  expect([0, 1, 1_500, 2.01e6, 999.2e9, 42.1e12].map(formatBytes)).toEqual([
    ...['0 kB', '0.1 kB', '1.5 kB', '2.1 MB', '1000 GB', '43 TB'],
  ])
  expect(optionName('linksPerPostgresql')).toBe('--links-per-postgresql')
})
