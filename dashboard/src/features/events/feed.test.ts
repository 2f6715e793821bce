import { expect, test } from 'vitest'
import {
  addNew,
  addPage,
  countRows,
  dropFarPages,
  eventAt,
  type Feed,
  type FeedEvent,
  findMissingPage,
  openFeed,
  pageRequest,
  pageSize,
} from './feed.ts'

/** A click of the second with this number; a later one has a higher number. */
const click = (second: number, id = `c${second}`) =>
  ({ event: 'click', timestamp: new Date(second * 1_000).toISOString(), click: { id } }) as FeedEvent
/** Clicks from the newest to the oldest. */
const clicks = (newest: number, oldest: number) =>
  Array.from({ length: newest - oldest + 1 }, (_, index) => click(newest - index))
const ids = (feed: Feed) =>
  Array.from({ length: countRows({ ...feed, next: undefined }) }, (_, index) => {
    const event = eventAt(feed, index)
    return event?.event === 'click' ? event.click.id : '-'
  })

test('new events come first, in the order of their time, and each once', () => {
  const feed = openFeed({ events: clicks(10, 8), next: undefined })
  const more = addNew(addNew(feed, [click(12), click(10)]), [click(13), click(11), click(12), click(13)])
  expect(ids(more)).toEqual(['c13', 'c12', 'c11', 'c10', 'c9', 'c8'])
})

test('an event that is stored late gets the row of its time', () => {
  const feed = openFeed({ events: [click(10), click(8)], next: 'more' })
  expect(ids(addNew(feed, [click(9)]))).toEqual(['c10', 'c9', 'c8'])
  expect(ids(addNew(feed, [click(5)])), 'its page is not loaded').toEqual(['c10', 'c8'])
  expect(ids(addNew({ ...feed, next: undefined }, [click(5)]))).toEqual(['c10', 'c8', 'c5'])
  expect(ids(addNew(openFeed({ events: [], next: undefined }), [click(5), click(6)]))).toEqual(['c6', 'c5'])
})

test('further pages follow by their cursor, and rows that load stand for the next one', () => {
  let feed = openFeed({ events: clicks(400, 301), next: 'a' })
  expect(countRows(feed)).toBe(110)
  expect(findMissingPage(feed, 0, 99)).toBeUndefined()
  expect(findMissingPage(feed, 80, 104)).toBe(1)
  expect(pageRequest(feed, 1)).toEqual({ cursor: 'a', limit: pageSize })
  feed = addPage(feed, 1, { events: clicks(300, 201), next: 'b' })
  feed = addPage(feed, 2, { events: clicks(200, 195), next: undefined })
  expect(countRows(feed)).toBe(206)
  expect(ids(feed)).toEqual(clicks(400, 195).map((event) => (event.event === 'click' ? event.click.id : '')))
  expect(findMissingPage(feed, 150, 205)).toBeUndefined()
})

/** A list of this many pages of which only those near the row are loaded. */
function scrolled(pages: number, first: number): Feed {
  const newest = pages * pageSize
  let feed = openFeed({ events: clicks(newest, newest - pageSize + 1), next: '1' })
  for (let number = 1; number < pages; number += 1) {
    const from = newest - number * pageSize
    const next = number === pages - 1 ? undefined : String(number + 1)
    feed = dropFarPages(addPage(feed, number, { events: clicks(from, from - pageSize + 1), next }), number * pageSize)
  }
  return dropFarPages(feed, first)
}

test('of a long list only the pages near the screen and the first are held, and the others are read again', () => {
  let feed = scrolled(100, 9_900)
  const loaded = feed.pages.flatMap(({ events }, number) => (events ? number : []))
  expect(loaded).toHaveLength(31)
  expect(loaded[0]).toBe(0)
  expect(loaded[1]).toBe(70)
  expect(countRows(feed)).toBe(10_000)
  expect(eventAt(feed, 5_000)).toBeUndefined()
  expect(findMissingPage(feed, 4_990, 5_030)).toBe(49)
  expect(pageRequest(feed, 50)).toEqual({ cursor: '50', limit: 120 })
  const late = click(4_950.5 as number, 'late')
  feed = addPage(feed, 50, { events: [...clicks(5_000, 4_951), late, ...clicks(4_950, 4_882)], next: 'x' })
  expect(eventAt(feed, 5_000)).toEqual(click(5_000))
  expect(eventAt(feed, 5_050)).toEqual(late)
  expect(eventAt(feed, 5_100)).toEqual(click(4_901))
  expect(countRows(feed)).toBe(10_001)
})

test('a page that is read again leaves out what arrived meanwhile', () => {
  let feed = scrolled(40, 3_900)
  feed = addNew(feed, [click(4_001), click(4_002)])
  expect(ids(feed).slice(0, 3)).toEqual(['c4002', 'c4001', 'c4000'])
  feed = addPage(feed, 1, { events: [click(4_002), ...clicks(3_900, 3_801)], next: '2' })
  expect(eventAt(feed, 102)).toEqual(click(3_900))
})
