import { expect, test } from 'vitest'
import { memo, memoByObject } from './memo.ts'

test('a result is computed once for each key, also null and undefined', () => {
  const computed: string[] = []
  const results: Record<string, unknown> = { one: 1, none: null }
  const find = memo(
    (key) => {
      computed.push(key)
      return results[key]
    },
    { maxBytes: 10_000 },
  )
  for (const key of ['one', 'none', 'missing', 'one', 'none', 'missing']) expect(find(key)).toBe(results[key])
  expect(computed).toEqual(['one', 'none', 'missing'])
})

test('a key that is too long is computed each time', () => {
  let count = 0
  const find = memo(() => ++count, { maxBytes: 10_000, maxKeyLength: 3 })
  expect([find('abc'), find('abc'), find('abcd'), find('abcd')]).toEqual([1, 1, 2, 3])
})

test('results are forgotten when they take more than their bytes', () => {
  let count = 0
  const find = memo(() => ++count, { maxBytes: 2_000 })
  for (let key = 0; key < 100; key++) find(`key ${key}`)
  find('key 99')
  expect(count).toBe(100)
  find('key 0')
  expect(count).toBe(101)
})

test('each object has a value of its own', () => {
  let count = 0
  const number = memoByObject(() => ++count)
  const [one, other] = [{}, {}]
  expect([number(one), number(other), number(one)]).toEqual([1, 2, 1])
})
