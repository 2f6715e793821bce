import { eventKey, type Feed, type FeedEvent } from './feed.ts'

/** The newest events of several lists, each of which is newest first. */
export function mergeLatest(lists: readonly (readonly FeedEvent[])[], count: number): FeedEvent[] {
  const events = new Map(lists.flatMap((list) => list.slice(0, count)).map((event) => [eventKey(event), event]))
  return [...events.values()].sort((one, other) => (one.timestamp < other.timestamp ? 1 : -1)).slice(0, count)
}

/** The first events of a list that grows. */
export function firstEvents({ live, pages }: Feed, count: number): FeedEvent[] {
  return [...live.slice(0, count), ...(pages[0]?.events ?? []).slice(0, count)].slice(0, count)
}
