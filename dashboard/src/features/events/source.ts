import { ApiError, type OperationInput } from '@tributary/contract/client'
import { call } from '../../app/call.ts'
import { retryAfterMs } from '../../app/queries.ts'
import type { FeedEvent } from './feed.ts'
import { followStream } from './follow.ts'
import type { Source } from './live-events.ts'
import { streamQuery } from './search.ts'

type ListQuery = NonNullable<OperationInput<'listEvents'>['query']>

const pollMs = 5_000
/** A page that nobody looks at reads nothing; it resumes when it is shown again. */
const hiddenMs = 60_000
const mostRepeats = 3

/** The events of a query, and how new ones come. */
export function openSource(workspace: string, query: ListQuery, mode: 'stream' | 'poll' | 'none'): Source {
  const read: Source['read'] = async ({ cursor, limit }, signal) => {
    let next: string | undefined
    const onHeaders = (headers: Headers) => {
      next = headers.get('x-next-cursor') ?? undefined
    }
    const input = { query: { ...query, cursor, limit }, signal, onHeaders }
    const events = await repeatLimited(() => call('listEvents', input, workspace), signal)
    return { events, next }
  }
  if (mode === 'none') return { read }
  if (mode === 'poll') return { read, follow: (handlers, signal) => void poll(read, handlers, signal) }
  return {
    read,
    follow: ({ onOpen, onEvents, onState }, signal) =>
      void followStream({
        open: (id, ended) => openStream(workspace, query, id, ended),
        onOpen,
        onData: (data) => onEvents(data.map((text) => JSON.parse(text) as FeedEvent)),
        onState,
        judge,
        wait,
        random: Math.random,
        signal,
      }),
  }
}

/** Repeats a read that comes while the limit of a second is used up: a page reads several things at once. */
async function repeatLimited<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await read()
    } catch (error) {
      const waitMs = error instanceof ApiError && error.status === 429 ? retryAfterMs(error) : undefined
      if (waitMs === undefined || repeats === mostRepeats || signal.aborted) throw error
      await wait(waitMs, signal)
    }
  }
}

async function openStream(
  workspace: string,
  query: ListQuery,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  await untilShown(signal)
  const input = {
    query: streamQuery(query),
    ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
    signal: AbortSignal.any([signal, hiddenFor(hiddenMs, signal)]),
  }
  const { body } = await call('streamEvents', input, workspace)
  if (!body) throw new Error('The stream has no body.')
  return body
}

/** Another id may help against a request that is refused; a person without the right, or the plan, has to wait for it. */
function judge(error: unknown): 'retry' | 'restart' | 'fail' {
  if (!(error instanceof ApiError)) return 'retry'
  if (error.status === 400 || error.status === 422) return 'restart'
  return error.status === 403 || error.status === 404 ? 'fail' : 'retry'
}

/** Reads the first page again and again. */
async function poll(
  read: Source['read'],
  { onOpen, onEvents, onState }: Parameters<NonNullable<Source['follow']>>[0],
  signal: AbortSignal,
): Promise<void> {
  onState('polling')
  onOpen(false)
  for (let failures = 0; !signal.aborted; ) {
    await wait(pollMs, signal)
    await untilShown(signal).catch(() => {})
    try {
      onEvents([...(await read({ cursor: undefined, limit: 100 }, signal)).events])
      failures = 0
    } catch {
      failures += 1
    }
    onState(failures === 0 ? 'polling' : failures > 1 ? 'offline' : 'reconnecting')
  }
}

/** Waits, or less if the network is back or the page is shown again before. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      document.removeEventListener('visibilitychange', end)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    document.addEventListener('visibilitychange', end)
    signal.addEventListener('abort', end)
  })
}

async function untilShown(signal: AbortSignal): Promise<void> {
  while (document.hidden) {
    signal.throwIfAborted()
    await wait(hiddenMs, signal)
  }
}

/** A signal that aborts when the page has been hidden for this long. */
function hiddenFor(ms: number, until: AbortSignal): AbortSignal {
  const hidden = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const change = () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(() => hidden.abort(), ms)
  }
  document.addEventListener('visibilitychange', change)
  until.addEventListener('abort', () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', change)
  })
  return hidden.signal
}
