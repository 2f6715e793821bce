import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sharedCache } from './shared-cache.ts'

type Thing = { number: number; bytes: number; lifeMs?: number }

function counting(maxBytes: number) {
  let made = 0
  const cache = sharedCache<Thing>({ maxBytes, bytesOf: ({ bytes }) => bytes, lifeMsOf: ({ lifeMs }) => lifeMs ?? 0 })
  return (key: string, bytes = 100, lifeMs?: number) =>
    cache(key, async () => {
      await sleep(1)
      made += 1
      if (bytes < 0) throw new Error(`failure ${made}`)
      return { number: made, bytes, lifeMs }
    }).then(({ number }) => number)
}

test('what many ask for at once is made once, and kept', async () => {
  const get = counting(10_000)
  expect(await Promise.all([get('a'), get('a'), get('b'), get('a')])).toEqual([1, 1, 2, 1])
  expect([await get('a'), await get('b')]).toEqual([1, 2])
})

test('a failure reaches all who wait and is not kept', async () => {
  const get = counting(10_000)
  const outcomes = await Promise.allSettled([get('a', -1), get('a', -1)])
  expect(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual([
    'failure 1',
    'failure 1',
  ])
  expect(await get('a')).toBe(2)
})

test('what was not used for longest goes when it becomes too much; what is too large alone is not kept', async () => {
  const get = counting(1_000)
  await get('a', 200)
  await get('b', 200)
  await get('a')
  await get('c', 200)
  expect(await get('a')).toBe(1)
  expect(await get('b', 200)).toBe(4)
  expect([await get('large', 2_000), await get('large', 2_000)]).toEqual([5, 6])
})

test('a life that is over is over', async () => {
  const get = counting(10_000)
  expect([await get('a', 1, 30), await get('a', 1, 30)]).toEqual([1, 1])
  await sleep(60)
  expect(await get('a', 1, 30)).toBe(2)
})
