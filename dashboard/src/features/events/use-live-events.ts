import type { OperationInput } from '@tributary/contract/client'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import type { Feed } from './feed.ts'
import { type LiveEvents, openLiveEvents, type Snapshot } from './live-events.ts'
import { openSource } from './source.ts'

type ListQuery = NonNullable<OperationInput<'listEvents'>['query']>

const nothing: Snapshot = { feed: undefined, waiting: 0, isMore: false, state: 'connecting', error: undefined }
const noChanges = () => () => {}

/** The events of a query, with new ones as they come. While another query loads, the events of the last one stay. */
export function useLiveEvents(query: ListQuery, mode: 'stream' | 'poll' | 'none', isPaused: boolean) {
  const { slug } = useWorkspace()
  const key = JSON.stringify([slug, query, mode])
  const [opened, setOpened] = useState<{ key: string; live: LiveEvents }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the query
  useEffect(() => {
    const live = openLiveEvents(openSource(slug, query, mode))
    setOpened({ key, live })
    return () => live.close()
  }, [key])
  const live = opened?.key === key ? opened.live : undefined
  useEffect(() => live?.setPaused(isPaused), [live, isPaused])
  const snapshot = useSyncExternalStore(live?.subscribe ?? noChanges, live?.snapshot ?? (() => nothing))
  const shown = useRef<{ feed: Feed; event: ListQuery['event'] }>(undefined)
  if (snapshot.feed) shown.current = { feed: snapshot.feed, event: query.event }
  // Events of another kind have other columns.
  const last = shown.current?.event === query.event ? shown.current?.feed : undefined
  return { ...snapshot, live, key, feed: last, isStale: last !== undefined && snapshot.feed === undefined }
}
