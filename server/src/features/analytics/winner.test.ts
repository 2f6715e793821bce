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
])('%s', (_, outcomes, winner) => {
  expect(chooseWinner([a, aPlus, b], outcomes)).toEqual(winner)
})
