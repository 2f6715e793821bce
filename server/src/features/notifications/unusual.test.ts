import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findUnusual, type LinkDay } from './unusual.ts'

const day = (clicks: number, history: number[]): LinkDay => ({ linkNumber: 1n, clicks, history })
const isUnusual = (clicks: number, history: number[]) => findUnusual([day(clicks, history)], 10).length === 1

const waitingTime = (random: () => number) => -Math.log(1 - random())

/** A Poisson-distributed count, by adding the waiting times of a process with this rate. */
function countPoisson(random: () => number, rate: number): number {
  let [count, time] = [0, waitingTime(random)]
  while (time < rate) {
    count += 1
    time += waitingTime(random)
  }
  return count
}

/** Random numbers below 1, by the generator Mulberry32. */
function openUniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('fewer than 3 of 10,000 links with constant random traffic are called unusual, on each of five days', () => {
  const alarms = Array.from({ length: 5 }, (_, seed) => {
    const random = openUniform(seed + 1)
    const links = Array.from({ length: 10_000 }, (_, index) => {
      const rate = 1 + (index % 200)
      const history = Array.from({ length: 4 + (index % 5) }, () => countPoisson(random, rate))
      return { linkNumber: BigInt(index), clicks: countPoisson(random, rate), history }
    })
    return findUnusual(links, 10_000).length
  })
  expect(Math.max(...alarms)).toBeLessThan(3)
})

test('a ten-fold rise of a link with 20 clicks a day or more is found', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.integer({ min: 20, max: 500 }),
      fc.integer({ min: 4, max: 8 }),
      (seed, rate, weeks) => {
        const random = openUniform(seed)
        const history = Array.from({ length: weeks }, () => countPoisson(random, rate))
        return isUnusual(countPoisson(random, 10 * rate), history)
      },
    ),
  )
})

test.each([
  ['a fall to nothing', 0, [20, 22, 19, 21], true],
  ['a fall by half of a busy link', 2_000, [4_000, 4_100, 3_900, 4_050], true],
  ['a rise from nothing', 40, [0, 0, 1, 0], true],
  ['a rise of few clicks', 19, [0, 0, 0, 0], false],
  ['a fall of few clicks', 0, [19, 19, 19, 19], false],
  ['a change by a third, however certain', 13_000, [10_000, 10_000, 10_000, 10_000], false],
  ['a count within what the link usually varies', 900, [100, 900, 30, 500, 1_200, 60], false],
  ['one outlier before a usual day', 100, [100, 5_000, 98, 103], false],
  ['a new link', 500, [0, 0, 0], false],
])('%s', (_name, clicks, history, expected) => {
  expect(isUnusual(clicks, history)).toBe(expected)
})

test('the most striking links come first, and no more than asked for', () => {
  const days = [30, 400, 90, 0].map((clicks, index) => ({
    linkNumber: BigInt(index),
    clicks,
    history: [20, 20, 20, 20],
  }))
  expect(findUnusual(days, 2)).toMatchObject([
    { linkNumber: 1n, clicks: 400, usual: 20 },
    { linkNumber: 2n, clicks: 90, usual: 20 },
  ])
  expect(findUnusual(days, 9).map(({ score }) => Math.sign(score))).toEqual([1, 1, -1])
})
