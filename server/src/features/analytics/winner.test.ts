import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { chooseWinner } from './winner.ts'

const a = { url: 'https://example.com/a', percentage: 50 }
const aPlus = { url: 'https://example.com/a?offer=1', percentage: 25 }
const b = { url: 'https://example.com/b', percentage: 25 }
const outcome = (url: string, clicks: number, leads = 0) => ({ url, clicks, leads })

test.each([
  ['nobody came', [], undefined],
  ['most clicks', [outcome(a.url, 3), outcome(b.url, 5)], b],
  ['leads count more than clicks', [outcome(a.url, 3, 2), outcome(b.url, 500, 1)], a],
  ['added parameters do not matter', [outcome(`${b.url}?utm_source=x`, 5), outcome(a.url, 4)], b],
  ['the closest variant wins', [outcome('https://example.com/a?offer=1&x=2', 5), outcome(a.url, 4)], aPlus],
  ['the first of equals', [outcome(a.url, 4), outcome(b.url, 4)], a],
  ['other destinations are skipped', [outcome('https://elsewhere.example/', 9), outcome('not a url', 9)], undefined],
])('%s', async (_, outcomes, winner) => {
  expect(await chooseWinner([a, aPlus, b], outcomes)).toEqual(winner)
})

test('the largest variants and thousands of destinations hold the process for less than a second at a time', async () => {
  const variants = ['b', 'c'].map((end) => ({
    url: `https://example.com/?${'a&'.repeat(15_900)}${end}`,
    percentage: 50,
  }))
  const outcomes = Array.from({ length: 300 }, (_, number) => outcome(`${variants[0]?.url}&x=${number}`, 1))
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  expect(await chooseWinner(variants, outcomes)).toEqual(variants[0])
  expect(delays.max / 1e6).toBeLessThan(1_000)
}, 30_000)
