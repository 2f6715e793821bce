import type { OperationAnswer } from '@tributary/contract/client'

export type FeedEvent = OperationAnswer<'listEvents'>[number]

/** A page of the list: the cursor that reads it, and its events unless they were dropped to save memory. */
type Page = { cursor: string | undefined; size: number; last: string; events: readonly FeedEvent[] | undefined }

/**
 * The events of a list, newest first: those that arrived since it was opened, then pages. Pages far from the screen keep
 * their size and cursor only. `next` is the cursor of the page after the last, if there is one.
 */
export type Feed = { live: readonly FeedEvent[]; pages: readonly Page[]; next: string | undefined }
export type ReadPage = { events: readonly FeedEvent[]; next: string | undefined }

export const pageSize = 100
/** How many events that arrived are held; with more, the list is read anew. */
export const mostLive = 2_000
const mostPages = 30
const loadingRows = 10

export function openFeed({ events, next }: ReadPage): Feed {
  return { live: [], pages: [toPage(events, undefined)], next }
}

/** What tells events apart. */
export function eventKey(event: FeedEvent): string {
  return event.event === 'click' ? event.click.id : event.eventId
}

/** How many rows the list has; while there is more to read, some rows that are loading follow. */
export function countRows({ live, pages, next }: Feed): number {
  return pages.reduce((sum, { size }) => sum + size, live.length) + (next === undefined ? 0 : loadingRows)
}

/** The event at a position; undefined while it is not loaded. */
export function eventAt({ live, pages }: Feed, index: number): FeedEvent | undefined {
  if (index < live.length) return live[index]
  let start = live.length
  for (const { size, events } of pages) {
    if (index < start + size) return events?.[index - start]
    start += size
  }
  return undefined
}

/** The number of the first page among these rows that is not loaded: one that was dropped, or the one after the last. */
export function findMissingPage({ live, pages, next }: Feed, first: number, last: number): number | undefined {
  let start = live.length
  for (const [number, { size, events }] of pages.entries()) {
    if (!events && start <= last && start + size > first) return number
    start += size
  }
  return next !== undefined && last >= start ? pages.length : undefined
}

/** The cursor and the number of events to read a page with. A page that was dropped may have got late events since. */
export function pageRequest({ pages, next }: Feed, number: number): { cursor: string | undefined; limit: number } {
  const page = pages[number]
  return page ? { cursor: page.cursor, limit: page.size + lateEvents } : { cursor: next, limit: pageSize }
}

const lateEvents = 20

/** Puts a page that was read into the list. */
export function addPage(feed: Feed, number: number, { events, next }: ReadPage): Feed {
  const known = feed.pages[number]
  const others = new Set(feed.live.map(eventKey))
  const own = events.filter((event) => !others.has(eventKey(event)))
  if (!known) return { ...feed, pages: [...feed.pages, toPage(own, feed.next)], next }
  const end = own.findIndex((event) => eventKey(event) === known.last)
  const page = toPage(own.slice(0, end === -1 ? known.size : end + 1), known.cursor)
  return { ...feed, pages: feed.pages.with(number, page) }
}

/** Drops the events of the pages that are farthest from the rows on the screen. The first page stays. */
export function dropFarPages(feed: Feed, first: number): Feed {
  const loaded = feed.pages.flatMap(({ events }, number) => (events && number > 0 ? number : []))
  if (loaded.length <= mostPages) return feed
  const middle = Math.floor((first - feed.live.length) / pageSize)
  const far = loaded.sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle)).slice(0, loaded.length - mostPages)
  const pages = feed.pages.map((page, number) => (far.includes(number) ? { ...page, events: undefined } : page))
  return { ...feed, pages }
}

/**
 * Adds events that arrived, each once and at its time. An event older than the pages that are loaded at the top is left to
 * the page that it belongs to.
 */
export function addNew(feed: Feed, events: readonly FeedEvent[]): Feed {
  const gap = feed.pages.findIndex((page) => !page.events)
  const top = gap === -1 ? feed.pages.length : gap
  const isEnd = gap === -1 && feed.next === undefined
  const shown = feed.pages.slice(0, top).flatMap((page) => page.events ?? [])
  const known = new Set([...feed.live, ...shown].map(eventKey))
  const oldest = shown.at(-1)?.timestamp ?? ''
  const fresh: FeedEvent[] = []
  let { pages } = feed
  for (const [key, event] of new Map(events.map((event) => [eventKey(event), event]))) {
    if (known.has(key) || (!isEnd && event.timestamp < oldest)) continue
    const number = pages.slice(0, top).findLastIndex((page) => isLater(page.events?.[0], event))
    const page = pages[number]
    if (page?.events) pages = pages.with(number, toPage(newestFirst([event, ...page.events]), page.cursor))
    else fresh.push(event)
  }
  return { ...feed, live: newestFirst([...fresh, ...feed.live]), pages }
}

function isLater(one: FeedEvent | undefined, other: FeedEvent): boolean {
  return one !== undefined && one.timestamp > other.timestamp
}

function newestFirst(events: FeedEvent[]): FeedEvent[] {
  return events.sort((a, b) => (a.timestamp === b.timestamp ? 0 : a.timestamp < b.timestamp ? 1 : -1))
}

function toPage(events: readonly FeedEvent[], cursor: string | undefined): Page {
  const last = events.at(-1)
  return { cursor, size: events.length, last: last ? eventKey(last) : '', events }
}
