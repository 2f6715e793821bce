import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FeedEvent } from './feed.ts'
import { firstEvents, mergeLatest } from './latest.ts'

function click(id: number, second: number): FeedEvent {
  const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  return { event: 'click', timestamp, click: { id: `click-${id}` } } as unknown as FeedEvent
}

const newestFirst = (events: FeedEvent[]) => events.toSorted((one, other) => (one.timestamp < other.timestamp ? 1 : -1))

test('the newest of several lists come first, each once', () => {
  const lists = fc.array(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 20 }), { maxLength: 3 })
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 8 }), (given, count) => {
      const built = given.map((seconds) => newestFirst([...new Set(seconds)].map((second) => click(second, second))))
      const seconds = [...new Set(given.flat())].sort((one, other) => other - one).slice(0, count)
      expect(mergeLatest(built, count)).toEqual(seconds.map((second) => click(second, second)))
    }),
  )
})

test('a list that grows begins with what arrived', () => {
  const pages = [{ cursor: undefined, size: 2, last: 'click-1', events: [click(2, 2), click(1, 1)] }]
  const feed = { live: [click(3, 3)], pages, next: undefined }
  expect(firstEvents(feed, 2)).toEqual([click(3, 3), click(2, 2)])
  expect(firstEvents({ ...feed, live: [] }, 5)).toEqual([click(2, 2), click(1, 1)])
})
