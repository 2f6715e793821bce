import { expect, test, vi } from 'vitest'
import { countRows, eventAt, type FeedEvent, type ReadPage } from './feed.ts'
import { openLiveEvents, type Source } from './live-events.ts'

const click = (second: number) =>
  ({ event: 'click', timestamp: new Date(second * 1_000).toISOString(), click: { id: `c${second}` } }) as FeedEvent
const clicks = (newest: number, oldest: number) =>
  Array.from({ length: newest - oldest + 1 }, (_, index) => click(newest - index))

type Handlers = Parameters<NonNullable<Source['follow']>>[0]

/** A list whose server has these pages by cursor, and whose stream is in the test's hands. */
function setUp(pages: Record<string, ReadPage | Error>) {
  const reads: (string | undefined)[] = []
  let stream: Handlers | undefined
  const read: Source['read'] = async ({ cursor }) => {
    reads.push(cursor)
    const page = pages[cursor ?? 'first']
    if (!page || page instanceof Error) throw page
    return page
  }
  const live = openLiveEvents({ read, follow: (handlers) => (stream = handlers) })
  const ids = () => {
    const { feed } = live.snapshot()
    if (!feed) return []
    return Array.from({ length: countRows(feed) }, (_, index) => {
      const event = eventAt(feed, index)
      return event?.event === 'click' ? event.click.id : '-'
    })
  }
  return { live, reads, ids, pages, stream: stream as unknown as Handlers }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

test('the page is read after the stream is open, and what arrives meanwhile is neither lost nor doubled', async () => {
  const { live, reads, ids, stream } = setUp({ first: { events: [click(2), click(1)], next: undefined } })
  await pause()
  expect(reads).toEqual([])
  stream.onOpen(false)
  stream.onEvents([click(2), click(3)])
  await pause()
  expect(ids()).toEqual(['c3', 'c2', 'c1'])
  stream.onEvents([click(4)])
  expect(ids()).toEqual(['c4', 'c3', 'c2', 'c1'])
  live.close()
})

test('a paused list stays as it is and counts what waits', async () => {
  const { live, ids, stream } = setUp({ first: { events: [click(1)], next: undefined } })
  stream.onOpen(false)
  await pause()
  live.setPaused(true)
  stream.onEvents([click(2), click(1)])
  stream.onEvents([click(2), click(3)])
  expect(ids()).toEqual(['c1'])
  expect(live.snapshot().waiting).toBe(2)
  live.showNew()
  expect(ids()).toEqual(['c3', 'c2', 'c1'])
  stream.onEvents([click(4)])
  expect(live.snapshot().waiting).toBe(1)
  live.setPaused(false)
  expect(ids()).toEqual(['c4', 'c3', 'c2', 'c1'])
  expect(live.snapshot().waiting).toBe(0)
  live.close()
})

test('too many waiting events are not held, and the list is read anew', async () => {
  const { live, ids, pages, reads, stream } = setUp({ first: { events: [click(1)], next: undefined } })
  stream.onOpen(false)
  await pause()
  live.setPaused(true)
  for (let second = 2; second < 1_500; second += 1) stream.onEvents([click(second)])
  expect(live.snapshot()).toMatchObject({ waiting: 1_000, isMore: true })
  pages.first = { events: clicks(1_499, 1_400), next: 'more' }
  live.setPaused(false)
  await pause()
  expect(ids().slice(0, 2)).toEqual(['c1499', 'c1498'])
  expect(live.snapshot()).toMatchObject({ waiting: 0, isMore: false })
  expect(reads).toEqual([undefined, undefined])
  live.close()
})

test('a resumed stream reads nothing again; one that starts anew reads the first page', async () => {
  const { live, reads, stream } = setUp({ first: { events: [click(1)], next: undefined } })
  stream.onOpen(false)
  await pause()
  stream.onOpen(true)
  await pause()
  expect(reads).toHaveLength(1)
  stream.onOpen(false)
  await pause()
  expect(reads).toHaveLength(2)
  live.setPaused(true)
  stream.onOpen(false)
  await pause()
  expect(reads).toHaveLength(2)
  expect(live.snapshot().isMore).toBe(true)
  live.close()
})

test('rows on the screen load their page, once', async () => {
  const { live, reads, ids, stream } = setUp({
    first: { events: clicks(300, 201), next: 'b' },
    b: { events: clicks(200, 101), next: 'c' },
    c: { events: clicks(100, 90), next: undefined },
  })
  stream.onOpen(false)
  await pause()
  live.setRange(60, 90)
  expect(reads).toHaveLength(1)
  live.setRange(80, 101)
  live.setRange(81, 102)
  await pause()
  expect(reads).toEqual([undefined, 'b'])
  live.setRange(180, 205)
  await pause()
  expect(ids()).toHaveLength(211)
  live.close()
})

test('the first page does not wait for a stream that does not open, and its failure is said', async () => {
  vi.useFakeTimers()
  const { live, reads, pages, stream } = setUp({ first: new Error('no') })
  await vi.advanceTimersByTimeAsync(1_600)
  expect(reads).toHaveLength(1)
  expect(live.snapshot().error).toEqual(new Error('no'))
  pages.first = { events: [click(1)], next: undefined }
  live.refresh()
  await vi.advanceTimersByTimeAsync(10)
  expect(live.snapshot()).toMatchObject({ error: undefined, feed: { pages: [{ size: 1 }] } })
  live.close()
  stream.onEvents([click(2)])
  expect(live.snapshot().feed?.live).toEqual([])
  vi.useRealTimers()
})
