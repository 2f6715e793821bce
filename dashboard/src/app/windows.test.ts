import { expect, test } from 'vitest'
import { countRows, pagesBetween } from './windows.ts'

const rows = (count: number) => Array.from({ length: count })

test.each([
  [0, 40, [1]],
  [90, 130, [1, 2]],
  [99_980, 99_999, [1_000]],
  [-1, -1, [1]],
])('rows %i to %i are on pages %j', (first, last, pages) => {
  expect(pagesBetween(first, last, 100)).toEqual(pages)
})

test('a page that is not full ends the list, whatever the total says', () => {
  expect(countRows(new Map([[1, rows(30)]]), 100, 500)).toBe(30)
  expect(countRows(new Map([[1, rows(0)]]), 100, 500)).toBe(0)
  expect(countRows(new Map([[3, rows(7)]]), 100, undefined)).toBe(207)
})

test('full pages leave the length to the total', () => {
  expect(countRows(new Map([[1, rows(100)]]), 100, 100_000)).toBe(100_000)
  expect(countRows(new Map([[1, rows(100)]]), 100, undefined)).toBe(100)
  expect(countRows(new Map([[2, rows(100)]]), 100, 150)).toBe(200)
})

test('a page behind the end says nothing', () => {
  expect(countRows(new Map([[9, rows(0)]]), 100, 250)).toBe(250)
})
