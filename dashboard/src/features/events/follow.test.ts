import { expect, test, vi } from 'vitest'
import { backoffMs, type Following, followStream, type StreamState } from './follow.ts'

const encoder = new TextEncoder()

/** A stream of these pieces that ends, or fails with an error. */
function stream(pieces: string[], error?: Error): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece))
      // What is queued is read before the failure.
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (error) controller.error(error)
      else controller.close()
    },
  })
}

/** Follows these connections in turn, until they are used up. */
async function follow(connections: (ReadableStream<Uint8Array> | Error)[], given: Partial<Following> = {}) {
  const end = new AbortController()
  const seen = { ids: [] as unknown[], data: [] as string[], states: [] as StreamState[], opened: [] as boolean[] }
  const waits: number[] = []
  await followStream({
    open: async (id) => {
      seen.ids.push(id)
      const next = connections.shift()
      if (connections.length === 0 && next === undefined) end.abort()
      if (next instanceof Error || next === undefined) throw next ?? new Error('no more')
      return next
    },
    onOpen: (isResumed) => seen.opened.push(isResumed),
    onData: (data) => seen.data.push(...data),
    onState: (state) => seen.states.push(state),
    judge: () => 'retry',
    wait: async (ms) => void waits.push(ms),
    random: () => 1,
    signal: end.signal,
    ...given,
  })
  return { ...seen, waits }
}

test('a stream that is cut resumes after the last message, and loses and doubles nothing', async () => {
  const { ids, data, states, opened } = await follow([
    stream(['id: 0\n\n', 'id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\nda'], new Error('cut')),
    stream(['id: 2\n\n', 'id: 3\ndata: c\n\n']),
  ])
  expect(data).toEqual(['a', 'b', 'c'])
  expect(ids).toEqual([undefined, '2', '3'])
  expect(opened).toEqual([false, true])
  expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live', 'reconnecting'])
})

test('several failures are said as offline, and waits grow with jitter until a connection opens', async () => {
  const failed = Array.from({ length: 5 }, () => new Error('refused'))
  const { states, waits } = await follow([...failed, stream(['id: 1\n\n'])])
  expect(states).toEqual([
    'connecting',
    ...['reconnecting', 'reconnecting', 'reconnecting', 'offline', 'offline'],
    ...['live', 'reconnecting'],
  ])
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 1_000])
  expect([backoffMs(1, 0), backoffMs(3, 0.5), backoffMs(30, 1)]).toEqual([500, 3_000, 30_000])
})

test('a refusal of the id starts anew, and another final refusal ends the following', async () => {
  const unknownId = new Error('unknown id')
  const { ids, opened, states } = await follow(
    [stream(['id: 7\n\n']), unknownId, stream(['id: 9\n\n']), new Error('forbidden')],
    { judge: (error) => (error === unknownId ? 'restart' : 'fail') },
  )
  expect(ids).toEqual([undefined, '7', undefined, '9'])
  expect(opened).toEqual([false, false])
  expect(states.at(-1)).toBe('failed')
})

test('an aborted following says nothing more', async () => {
  const end = new AbortController()
  const states: StreamState[] = []
  const done = follow([stream(['id: 1\n\n'], new Error('cut'))], {
    signal: end.signal,
    onState: (state) => {
      states.push(state)
      if (state === 'live') end.abort()
    },
  })
  await done
  expect(states).toEqual(['connecting', 'live'])
})

test('a connection that is silent for three quarters of a minute is given up', async () => {
  vi.useFakeTimers()
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode('id: 5\n\n')),
  })
  const done = follow([silent, stream(['id: 6\n\n'])])
  await vi.advanceTimersByTimeAsync(46_000)
  await vi.advanceTimersByTimeAsync(1_000)
  const { ids, states } = await done
  expect(ids).toEqual([undefined, '5', '6'])
  expect(states.slice(0, 4)).toEqual(['connecting', 'live', 'reconnecting', 'live'])
  vi.useRealTimers()
})
