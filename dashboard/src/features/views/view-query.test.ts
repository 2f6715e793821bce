import { expect, test } from 'vitest'
import { isSameQuery } from './view-query.ts'

test('the order of parameters makes no difference, their values do', () => {
  expect(isSameQuery({ a: '1', b: '2' }, { b: '2', a: '1' })).toBe(true)
  expect(isSameQuery({ a: '1' }, { a: '2' })).toBe(false)
  expect(isSameQuery({ a: '1' }, {})).toBe(false)
})
