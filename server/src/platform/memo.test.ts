import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { memo, memoByObject, openAsyncMemo } from './memo.ts'

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

test('results are evicted when they exceed their bytes', () => {
  let count = 0
  const find = memo(() => ++count, { maxBytes: 2_000 })
  for (let key = 0; key < 100; key++) find(`key ${key}`)
  find('key 99')
  expect(count).toBe(100)
  find('key 0')
  expect(count).toBe(101)
})

test('each object has its own value', () => {
  let count = 0
  const number = memoByObject(() => ++count)
  const [one, other] = [{}, {}]
  expect([number(one), number(other), number(one)]).toEqual([1, 2, 1])
})

type Thing = { number: number; bytes: number; lifeMs?: number }

function counting(maxBytes: number) {
  let made = 0
  const cache = openAsyncMemo<Thing>({ maxBytes, measure: ({ bytes }) => bytes, ttlMs: ({ lifeMs }) => lifeMs ?? 0 })
  return (key: string, bytes = 100, lifeMs?: number) =>
    cache(key, async () => {
      await sleep(1)
      made += 1
      if (bytes < 0) throw new Error(`failure ${made}`)
      return { number: made, bytes, lifeMs }
    }).then(({ number }) => number)
}

test('concurrent callers share one computation, and its result is cached', async () => {
  const get = counting(10_000)
  expect(await Promise.all([get('a'), get('a'), get('b'), get('a')])).toEqual([1, 1, 2, 1])
  expect([await get('a'), await get('b')]).toEqual([1, 2])
})

test('a failure reaches all waiting callers and is not cached', async () => {
  const get = counting(10_000)
  const outcomes = await Promise.allSettled([get('a', -1), get('a', -1)])
  expect(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual([
    'failure 1',
    'failure 1',
  ])
  expect(await get('a')).toBe(2)
})

test('the least recently used value is evicted above the limit, and a value larger than the limit is not cached', async () => {
  const get = counting(1_000)
  await get('a', 200)
  await get('b', 200)
  await get('a')
  await get('c', 200)
  expect(await get('a')).toBe(1)
  expect(await get('b', 200)).toBe(4)
  expect([await get('large', 2_000), await get('large', 2_000)]).toEqual([5, 6])
})

test('a value expires after its time to live', async () => {
  const get = counting(10_000)
  expect([await get('a', 1, 30), await get('a', 1, 30)]).toEqual([1, 1])
  await sleep(60)
  expect(await get('a', 1, 30)).toBe(2)
})

test('further computations above the limit are rejected, while cached and pending values are returned', async () => {
  const cache = openAsyncMemo<object>({
    maxBytes: 10_000,
    admit(running) {
      if (running >= 2) throw new Error('too many')
    },
  })
  const get = (key: string) => cache(key, () => sleep(20, { key }))
  const first = [get('a'), get('b')]
  await expect(get('c')).rejects.toThrow('too many')
  expect(await get('a')).toEqual({ key: 'a' })
  await Promise.all(first)
  expect(await get('c')).toEqual({ key: 'c' })
})
