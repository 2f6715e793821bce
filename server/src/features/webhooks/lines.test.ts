import { expect, test } from 'vitest'
import { openLines } from './lines.ts'

const inOne = (ids: string[], workspaceId = 'ws') => ids.map((id) => ({ id, workspaceId }))
const sharesOf = (shares: Map<string, number>) => Object.fromEntries(shares)

test('counts calls in all and to each receiver', () => {
  const lines = openLines({ perWebhook: 2, perWorkspace: 100, inAll: 10 })
  expect(lines.room()).toEqual({ count: 10, after: '' })
  expect(sharesOf(lines.share(inOne(['a', 'b'])))).toEqual({ a: 2, b: 2 })
  lines.began(['b', 'a', 'b'])
  expect(lines.room()).toEqual({ count: 7, after: '' })
  expect(sharesOf(lines.share(inOne(['a', 'b', 'c'])))).toEqual({ a: 1, c: 2 })
  for (const id of ['b', 'b', 'a']) lines.ended(id)
  expect(lines.room()).toEqual({ count: 10, after: '' })
})

test('an end is of interest where more may wait', () => {
  const lines = openLines({ perWebhook: 3, perWorkspace: 100, inAll: 10 })
  lines.share(inOne(['a', 'b']))
  lines.began(['a', 'a', 'a', 'b'])
  expect([lines.ended('a'), lines.ended('b')]).toEqual([true, false])
  lines.share(inOne(['a']))
  // Ends while the question is under way, which asks for one only.
  lines.ended('a')
  lines.began(['a'])
  expect([lines.ended('a'), lines.ended('a')]).toEqual([true, true])
  lines.share(inOne(['a']))
  lines.began(['a', 'a'])
  expect(lines.ended('a')).toBe(false)
})

test('an end is of interest to a webhook that was too busy to get anything', () => {
  const lines = openLines({ perWebhook: 1, perWorkspace: 100, inAll: 10 })
  lines.share(inOne(['a']))
  lines.began(['a'])
  expect(sharesOf(lines.share(inOne(['a'])))).toEqual({})
  lines.began([])
  expect(lines.ended('a')).toBe(true)
})

test('when there are more webhooks than lines, the next look begins after the last that was seen', () => {
  const lines = openLines({ perWebhook: 2, perWorkspace: 100, inAll: 3 })
  expect(sharesOf(lines.share(inOne(['a', 'b', 'c'])))).toEqual({ a: 2, b: 2, c: 2 })
  lines.began(['c', 'b', 'a'])
  expect(lines.room()).toEqual({ count: 0, after: 'c' })
  expect(lines.ended('a')).toBe(true)
  expect(sharesOf(lines.share(inOne(['d'])))).toEqual({ d: 2 })
  lines.began(['d'])
  expect(lines.room()).toEqual({ count: 0, after: 'd' })
  for (const id of ['d', 'b']) lines.ended(id)
  lines.share(inOne([]))
  lines.began([])
  expect(lines.room()).toEqual({ count: 2, after: '' })
})

test('when all lines are taken, every end is of interest', () => {
  const lines = openLines({ perWebhook: 3, perWorkspace: 100, inAll: 4 })
  lines.share(inOne(['a', 'b']))
  lines.began(['a', 'b', 'a', 'b'])
  expect(lines.room()).toEqual({ count: 0, after: '' })
  expect(lines.ended('b')).toBe(true)
})

test('a slow receiver has one line until it answers quickly', () => {
  const lines = openLines({ perWebhook: 3, perWorkspace: 100, inAll: 10 })
  lines.share(inOne(['a', 'b']))
  lines.began(['a', 'a', 'a', 'b'])
  lines.ended('b')
  lines.ended('a', 3_000)
  expect(sharesOf(lines.share(inOne(['a', 'b'])))).toEqual({ b: 3 })
  lines.began([])
  lines.ended('a', 3_000)
  lines.ended('a', 3_000)
  expect(sharesOf(lines.share(inOne(['a', 'b'])))).toEqual({ a: 1, b: 3 })
  lines.began(['a'])
  lines.ended('a', 2_999)
  expect(sharesOf(lines.share(inOne(['a'])))).toEqual({ a: 3 })
})

test('a workspace with many webhooks gets no more than one with few', () => {
  const lines = openLines({ perWebhook: 10, perWorkspace: 20, inAll: 100 })
  const many = Array.from({ length: 50 }, (_, index) => `a${index}`)
  const shares = sharesOf(lines.share([...inOne(many, 'hostile'), ...inOne(['b'], 'honest')]))
  const hostile = Object.entries(shares).filter(([id]) => id !== 'b')
  expect(hostile.reduce((sum, [, share]) => sum + share, 0)).toBe(20)
  expect(shares.b).toBe(10)
  lines.began([...hostile.map(([id]) => id), 'b'])
  expect(sharesOf(lines.share([...inOne(many, 'hostile'), ...inOne(['b'], 'honest')]))).toEqual({ b: 9 })
  expect(lines.ended(hostile[0]?.[0] ?? '')).toBe(true)
  const next = Object.keys(sharesOf(lines.share(inOne(many, 'hostile'))))
  expect(hostile.slice(1).map(([id]) => id)).not.toContain(next[0])
})
