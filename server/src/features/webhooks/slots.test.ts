import { expect, test } from 'vitest'
import { openSlots } from './slots.ts'

const inOne = (ids: string[], workspaceId = 'ws') => ids.map((id) => ({ id, workspaceId }))
const listShares = (shares: Map<string, number>) => Object.fromEntries(shares)

test('slots limit concurrent calls in total and per webhook', () => {
  const slots = openSlots({ perWebhook: 2, perWorkspace: 100, inAll: 10 })
  expect(slots.room()).toEqual({ count: 10, after: '' })
  expect(listShares(slots.share(inOne(['a', 'b'])))).toEqual({ a: 2, b: 2 })
  slots.began(['b', 'a', 'b'])
  expect(slots.room()).toEqual({ count: 7, after: '' })
  expect(listShares(slots.share(inOne(['a', 'b', 'c'])))).toEqual({ a: 1, c: 2 })
  for (const id of ['b', 'b', 'a']) slots.ended(id)
  expect(slots.room()).toEqual({ count: 10, after: '' })
})

test('an ended call triggers a query when more deliveries of its webhook may wait', () => {
  const slots = openSlots({ perWebhook: 3, perWorkspace: 100, inAll: 10 })
  slots.share(inOne(['a', 'b']))
  slots.began(['a', 'a', 'a', 'b'])
  expect([slots.ended('a'), slots.ended('b')]).toEqual([true, false])
  slots.share(inOne(['a']))
  // This call ends while the query for one delivery is running.
  slots.ended('a')
  slots.began(['a'])
  expect([slots.ended('a'), slots.ended('a')]).toEqual([true, true])
  slots.share(inOne(['a']))
  slots.began(['a', 'a'])
  expect(slots.ended('a')).toBe(false)
})

test('an ended call triggers a query for a webhook that was too busy to get a slot', () => {
  const slots = openSlots({ perWebhook: 1, perWorkspace: 100, inAll: 10 })
  slots.share(inOne(['a']))
  slots.began(['a'])
  expect(listShares(slots.share(inOne(['a'])))).toEqual({})
  slots.began([])
  expect(slots.ended('a')).toBe(true)
})

test('with more webhooks than slots, the next query starts after the last webhook seen', () => {
  const slots = openSlots({ perWebhook: 2, perWorkspace: 100, inAll: 3 })
  expect(listShares(slots.share(inOne(['a', 'b', 'c'])))).toEqual({ a: 2, b: 2, c: 2 })
  slots.began(['c', 'b', 'a'])
  expect(slots.room()).toEqual({ count: 0, after: 'c' })
  expect(slots.ended('a')).toBe(true)
  expect(listShares(slots.share(inOne(['d'])))).toEqual({ d: 2 })
  slots.began(['d'])
  expect(slots.room()).toEqual({ count: 0, after: 'd' })
  for (const id of ['d', 'b']) slots.ended(id)
  slots.share(inOne([]))
  slots.began([])
  expect(slots.room()).toEqual({ count: 2, after: '' })
})

test('with all slots taken, every ended call triggers a query', () => {
  const slots = openSlots({ perWebhook: 3, perWorkspace: 100, inAll: 4 })
  slots.share(inOne(['a', 'b']))
  slots.began(['a', 'b', 'a', 'b'])
  expect(slots.room()).toEqual({ count: 0, after: '' })
  expect(slots.ended('b')).toBe(true)
})

test('a slow receiver has one slot until a call is quick again', () => {
  const slots = openSlots({ perWebhook: 3, perWorkspace: 100, inAll: 10 })
  slots.share(inOne(['a', 'b']))
  slots.began(['a', 'a', 'a', 'b'])
  slots.ended('b')
  slots.ended('a', 3_000)
  expect(listShares(slots.share(inOne(['a', 'b'])))).toEqual({ b: 3 })
  slots.began([])
  slots.ended('a', 3_000)
  slots.ended('a', 3_000)
  expect(listShares(slots.share(inOne(['a', 'b'])))).toEqual({ a: 1, b: 3 })
  slots.began(['a'])
  slots.ended('a', 2_999)
  expect(listShares(slots.share(inOne(['a'])))).toEqual({ a: 3 })
})

test('a workspace with many webhooks gets no more slots than one with few', () => {
  const slots = openSlots({ perWebhook: 10, perWorkspace: 20, inAll: 100 })
  const many = Array.from({ length: 50 }, (_, index) => `a${index}`)
  const shares = listShares(slots.share([...inOne(many, 'hostile'), ...inOne(['b'], 'honest')]))
  const hostile = Object.entries(shares).filter(([id]) => id !== 'b')
  expect(hostile.reduce((sum, [, share]) => sum + share, 0)).toBe(20)
  expect(shares.b).toBe(10)
  slots.began([...hostile.map(([id]) => id), 'b'])
  expect(listShares(slots.share([...inOne(many, 'hostile'), ...inOne(['b'], 'honest')]))).toEqual({ b: 9 })
  expect(slots.ended(hostile[0]?.[0] ?? '')).toBe(true)
  const next = Object.keys(listShares(slots.share(inOne(many, 'hostile'))))
  expect(hostile.slice(1).map(([id]) => id)).not.toContain(next[0])
})
