import { expect, test } from 'vitest'
import { missed } from './table.ts'

test.each([
  ['enough', { figure: 0.55, atLeast: 0.55 }, []],
  ['enough as printed', { figure: 0.546, atLeast: 0.55 }, []],
  ['too little', { figure: 0.5449, atLeast: 0.55 }, ['redirect: 0.54, target at least 0.55']],
  ['little enough', { figure: 2.5, atMost: 2.5 }, []],
  ['too much', { figure: 2.51, atMost: 2.5 }, ['redirect: 2.51, target at most 2.5']],
  ['off target', { figure: 509_999, atLeast: 510_000, atMost: 510_000 }, ['redirect: 509999, target at least 510000']],
  ['not measured', { figure: Number.NaN, atLeast: 1 }, ['redirect: NaN, target at most Infinity']],
])('%s', (_, target, lines) => {
  expect(missed([{ name: 'redirect', ...target }])).toEqual(lines)
})
