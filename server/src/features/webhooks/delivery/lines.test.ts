import { expect, test } from 'vitest'
import { openLines } from './lines.ts'

const sharesOf = (shares: Map<string, number>) => Object.fromEntries(shares)

test('counts calls in all and to each receiver', () => {
  const lines = openLines(2, 10)
  expect(lines.room()).toEqual({ count: 10, after: '' })
  expect(sharesOf(lines.share(['a', 'b']))).toEqual({ a: 2, b: 2 })
  lines.began(['b', 'a', 'b'])
  expect(lines.room()).toEqual({ count: 7, after: '' })
  expect(sharesOf(lines.share(['a', 'b', 'c']))).toEqual({ a: 1, c: 2 })
  for (const id of ['b', 'b', 'a']) lines.ended(id)
  expect(lines.room()).toEqual({ count: 10, after: '' })
})

test('an end is of interest where more may wait', () => {
  const lines = openLines(3, 10)
  lines.share(['a', 'b'])
  lines.began(['a', 'a', 'a', 'b'])
  expect([lines.ended('a'), lines.ended('b')]).toEqual([true, false])
  lines.share(['a'])
  // Ends while the question is under way, which asks for one only.
  lines.ended('a')
  lines.began(['a'])
  expect([lines.ended('a'), lines.ended('a')]).toEqual([true, true])
  lines.share(['a'])
  lines.began(['a', 'a'])
  expect(lines.ended('a')).toBe(false)
})

test('an end is of interest to a webhook that was too busy to get anything', () => {
  const lines = openLines(1, 10)
  lines.share(['a'])
  lines.began(['a'])
  expect(sharesOf(lines.share(['a']))).toEqual({})
  lines.began([])
  expect(lines.ended('a')).toBe(true)
})

test('when there are more webhooks than lines, the next look begins after the last that was seen', () => {
  const lines = openLines(2, 3)
  expect(sharesOf(lines.share(['a', 'b', 'c']))).toEqual({ a: 2, b: 2, c: 2 })
  lines.began(['c', 'b', 'a'])
  expect(lines.room()).toEqual({ count: 0, after: 'c' })
  expect(lines.ended('a')).toBe(true)
  expect(sharesOf(lines.share(['d']))).toEqual({ d: 2 })
  lines.began(['d'])
  expect(lines.room()).toEqual({ count: 0, after: 'd' })
  for (const id of ['d', 'b']) lines.ended(id)
  lines.share([])
  lines.began([])
  expect(lines.room()).toEqual({ count: 2, after: '' })
})

test('when all lines are taken, every end is of interest', () => {
  const lines = openLines(3, 4)
  lines.share(['a', 'b'])
  lines.began(['a', 'b', 'a', 'b'])
  expect(lines.room()).toEqual({ count: 0, after: '' })
  expect(lines.ended('b')).toBe(true)
})

test('a slow receiver has one line until it answers quickly', () => {
  const lines = openLines(3, 10)
  lines.share(['a', 'b'])
  lines.began(['a', 'a', 'a', 'b'])
  lines.ended('b')
  lines.ended('a', 3_000)
  expect(sharesOf(lines.share(['a', 'b']))).toEqual({ b: 3 })
  lines.began([])
  lines.ended('a', 3_000)
  lines.ended('a', 3_000)
  expect(sharesOf(lines.share(['a', 'b']))).toEqual({ a: 1, b: 3 })
  lines.began(['a'])
  lines.ended('a', 2_999)
  expect(sharesOf(lines.share(['a']))).toEqual({ a: 3 })
})
