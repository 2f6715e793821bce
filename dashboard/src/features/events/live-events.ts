import {
  addNew,
  addPage,
  countRows,
  dropFarPages,
  eventKey,
  type Feed,
  type FeedEvent,
  findMissingPage,
  mostLive,
  openFeed,
  pageRequest,
  pageSize,
  type ReadPage,
} from './feed.ts'
import type { StreamState } from './follow.ts'

export type LiveState = StreamState | 'polling' | 'ended'

export type Snapshot = {
  /** Undefined until the first page is read. */
  feed: Feed | undefined
  /** How many events wait while the list is paused; `isMore` if they are too many to be held. */
  waiting: number
  isMore: boolean
  state: LiveState
  /** Why the first page could not be read. */
  error: unknown
}

type Handlers = {
  onOpen(isResumed: boolean): void
  onEvents(events: FeedEvent[]): void
  onState(state: LiveState): void
}

export type Source = {
  read(request: { cursor: string | undefined; limit: number }, signal: AbortSignal): Promise<ReadPage>
  /** Hands on new events until the signal aborts; without it, the list has no new events. */
  follow?(handlers: Handlers, signal: AbortSignal): void
}

export type LiveEvents = {
  subscribe(listener: () => void): () => void
  snapshot(): Snapshot
  setPaused(isPaused: boolean): void
  /** Shows the events that wait, and stays paused. */
  showNew(): void
  /** Loads the pages of these rows. */
  setRange(first: number, last: number): void
  refresh(): void
  close(): void
}

const mostWaiting = 1_000
const openWithinMs = 1_500
const retryMs = 3_000

/**
 * A list of events that grows by itself. The stream opens first and the first page is read then, so that no event falls
 * between them; if the stream does not open soon, the page does not wait for it.
 */
export function openLiveEvents({ read, follow }: Source): LiveEvents {
  const end = new AbortController()
  const changed = new EventTarget()
  let current: Snapshot = {
    ...{ feed: undefined, waiting: 0, isMore: false, error: undefined },
    state: follow ? 'connecting' : 'ended',
  }
  let unseen: FeedEvent[] = []
  let isPaused = false
  let range: [first: number, last: number] = [0, 0]
  let refreshing: { arrived: FeedEvent[] } | undefined
  let isLoading = false
  let readings = 0

  function set(part: Partial<Snapshot>): void {
    if (end.signal.aborted) return
    current = { ...current, ...part }
    changed.dispatchEvent(new Event('change'))
  }

  /** Reads the first page anew. What arrives meanwhile is added to it. */
  async function refresh(): Promise<void> {
    const own = { arrived: [] as FeedEvent[] }
    refreshing = own
    try {
      const page = await read({ cursor: undefined, limit: pageSize }, end.signal)
      if (refreshing !== own) return
      unseen = []
      readings += 1
      set({ feed: addNew(openFeed(page), own.arrived), waiting: 0, isMore: false, error: undefined })
    } catch (error) {
      if (refreshing === own && !current.feed) set({ error })
    }
    if (refreshing === own) refreshing = undefined
    void loadMissing()
  }

  function receive(events: readonly FeedEvent[]): void {
    refreshing?.arrived.push(...events)
    const { feed } = current
    if (!feed) return
    if (isPaused) {
      setAside(feed, events)
      return
    }
    const next = addNew(feed, events)
    set({ feed: next })
    if (next.live.length > mostLive && !refreshing) void refresh()
  }

  function setAside(feed: Feed, events: readonly FeedEvent[]): void {
    const known = new Map([...unseen, ...events].map((event) => [eventKey(event), event]))
    unseen = [...known.values()].slice(0, mostWaiting)
    const waiting = countRows(addNew(feed, unseen)) - countRows(feed)
    const isMore = current.isMore || known.size > mostWaiting
    if (waiting !== current.waiting || isMore !== current.isMore) set({ waiting, isMore })
  }

  function showNew(): void {
    const { feed, isMore } = current
    if (isMore) return void refresh()
    if (!feed || unseen.length === 0) return
    set({ feed: addNew(feed, unseen), waiting: 0 })
    unseen = []
  }

  async function loadMissing(): Promise<void> {
    if (isLoading) return
    isLoading = true
    for (let number = missing(); number !== undefined && !end.signal.aborted; number = missing()) {
      const reading = readings
      try {
        const page = await read(pageRequest(current.feed as Feed, number), end.signal)
        // When the list was read anew meanwhile, its pages are others.
        if (reading === readings && current.feed)
          set({ feed: dropFarPages(addPage(current.feed, number, page), range[0]) })
      } catch {
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
    isLoading = false
  }

  const missing = () => current.feed && findMissingPage(current.feed, ...range)

  function start(): void {
    if (!follow) return void refresh()
    const late = setTimeout(() => void refresh(), openWithinMs)
    end.signal.addEventListener('abort', () => clearTimeout(late))
    const onOpen = (isResumed: boolean) => {
      clearTimeout(late)
      if (isResumed && current.feed) return
      // A list that is paused stays as it is until it is told to show what is new.
      if (isPaused && current.feed) set({ isMore: true })
      else void refresh()
    }
    follow({ onOpen, onEvents: receive, onState: (state) => set({ state }) }, end.signal)
  }

  start()
  return {
    subscribe(listener) {
      changed.addEventListener('change', listener)
      return () => changed.removeEventListener('change', listener)
    },
    snapshot: () => current,
    setPaused(paused) {
      isPaused = paused
      if (!paused) showNew()
    },
    showNew,
    setRange(first, last) {
      range = [first, last]
      void loadMissing()
    },
    refresh: () => void refresh(),
    close: () => end.abort(),
  }
}
