import type { ConsumerMessages } from '@nats-io/jetstream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batches, chunks, openGroupCommit, paceBatches, SeparateCallsError } from './batches.ts'
import { sleep } from './clock.ts'
import type { Ctx } from './context.ts'

test('all chunks except the last are full, and they contain every item in order', () => {
  expect([...chunks([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]])
  expect([...chunks([], 2)]).toEqual([])
})

describe('openGroupCommit', () => {
  /** Contexts whose transactions only run their work; `begin` counts them. */
  function openCalls<Result>(record: (inputs: number[]) => Promise<(Result | undefined)[]>) {
    const groups: number[][] = []
    const db = {
      isTransaction: false,
      transaction: () => ({ execute: (work: (inside: unknown) => unknown) => work({ isTransaction: true }) }),
    } as unknown as Ctx['db']
    const call = openGroupCommit<number, Result>((ctx, calls) => {
      expect(ctx.db.isTransaction).toBe(true)
      const inputs = calls.map(({ input }) => input)
      groups.push(inputs)
      return record(inputs)
    })
    const inWorkspace = (workspaceId: string) => ({ db, workspaceId }) as Ctx
    return {
      groups,
      db,
      inWorkspace,
      call: (input: number, workspaceId = 'ws') => call(inWorkspace(workspaceId), input),
    }
  }
  const double = async (inputs: number[]) => {
    await sleep(10)
    return inputs.map((input) => 2 * input)
  }

  test('a lone call runs at once; calls that arrive while a group runs form the next group', async () => {
    const { groups, call } = openCalls(double)
    expect(await Promise.all([1, 2, 3, 4, 5].map((input) => call(input)))).toEqual([2, 4, 6, 8, 10])
    expect(groups).toEqual([[1], [2, 3, 4, 5]])
  })

  test('calls do not wait for a slow group, and later ones form groups again', async () => {
    const lock = Promise.withResolvers<void>()
    const { groups, call } = openCalls(async (inputs) => {
      if (inputs.includes(1)) await lock.promise
      return double(inputs)
    })
    const slow = call(1)
    expect(await Promise.all([2, 3].map((input) => call(input)))).toEqual([4, 6])
    expect(await Promise.all([4, 5, 6].map((input) => call(input)))).toEqual([8, 10, 12])
    lock.resolve()
    expect(await slow).toBe(2)
    expect(await Promise.all([7, 8, 9].map((input) => call(input)))).toEqual([14, 16, 18])
    expect(groups).toEqual([[1], [2, 3], [4], [5, 6], [7], [8, 9]])
  })

  test('a group has calls of one workspace, and at most 64', async () => {
    const { groups, call } = openCalls(double)
    const inputs = Array.from({ length: 100 }, (_, index) => index)
    await Promise.all(inputs.flatMap((input) => [call(input, 'one'), call(1_000 + input, 'other')]))
    expect(groups.flat().sort((a, b) => a - b)).toEqual([...inputs, ...inputs.map((input) => 1_000 + input)])
    for (const group of groups) {
      expect(group.length).toBeLessThanOrEqual(64)
      expect(new Set(group.map((input) => input >= 1_000)).size).toBe(1)
    }
  })

  test('a traced request has its own group', async () => {
    const { groups, inWorkspace } = openCalls(double)
    const call = openGroupCommit<number, number>(async (_, calls) => {
      groups.push(calls.map(({ input }) => input))
      return double(calls.map(({ input }) => input))
    })
    const tracing = (id: string) => ({ traceparent: () => id, span: (_: unknown, work: () => unknown) => work() })
    const traced = (input: number) => ({ ...inWorkspace('ws'), tracing: tracing(`trace ${input}`) }) as unknown as Ctx
    await Promise.all([1, 2, 3, 4].map((input) => call(traced(input), input)))
    expect(groups).toEqual([[1], [2], [3], [4]])
  })

  test('a call inside a transaction is left to the caller', async () => {
    const { groups, inWorkspace } = openCalls(double)
    const call = openGroupCommit<number, number>((_, calls) => double(calls.map(({ input }) => input)))
    const inside = { ...inWorkspace('ws'), db: { isTransaction: true } } as Ctx
    expect(await call(inside, 1)).toBeUndefined()
    expect(groups).toEqual([])
  })

  test('calls of a group that is rejected for its data are left to their callers; another error fails them', async () => {
    for (const [error, outcome] of [
      [new SeparateCallsError(), undefined],
      [new RangeError('too large'), undefined],
      [new Error('PostgreSQL is down'), 'PostgreSQL is down'],
    ] as const) {
      const { call } = openCalls<number>(() => Promise.reject(error))
      const outcomes = await Promise.all([1, 2, 3].map((input) => call(input).catch(({ message }) => message)))
      expect(outcomes).toEqual([outcome, outcome, outcome])
    }
  })
})

describe('batches', () => {
  test('a lone message is delivered at once', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 10_000 })
    const started = performance.now()
    source.push(1)
    expect(await read.next()).toEqual([1])
    expect(performance.now() - started).toBeLessThan(5_000)
    await read.stop()
  })

  test('waiting messages form one batch', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 0 })
    source.push(1, 2, 3, 4, 5)
    expect(await read.next()).toEqual([1, 2, 3, 4, 5])
    await read.stop()
  })

  test('under load a batch holds the messages of one interval', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 300 })
    source.push(1)
    expect(await read.next()).toEqual([1])
    const started = performance.now()
    const second = read.next()
    for (const number of [2, 3, 4]) {
      source.push(number)
      await sleep(30)
    }
    expect(await second).toEqual([2, 3, 4])
    expect(performance.now() - started).toBeGreaterThan(250)
    await read.stop()
  })

  test('a full batch does not wait for the interval', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 10_000, full: 3 })
    source.push(1, 2, 3, 4, 5, 6, 7)
    expect(await read.next()).toEqual([1, 2, 3])
    expect(await read.next()).toEqual([4, 5, 6])
    await read.stop()
  })

  test('a batch that reaches the limit of bytes does not wait for the interval', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 10_000, bytes: 25 })
    source.push(1, 2, 3, 4, 5, 6)
    expect(await read.next()).toEqual([1, 2, 3])
    expect(await read.next()).toEqual([4, 5, 6])
    await read.stop()
  })

  test('a failed consumer delivers what it read, then throws', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 0 })
    source.push(1)
    expect(await read.next()).toEqual([1])
    source.fail(new Error('connection lost'))
    await expect(read.next()).rejects.toThrow('connection lost')
    expect(source.closed).toBe(true)
  })

  test('a slow reader gets all messages that arrived meanwhile', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 20 })
    source.push(1)
    expect(await read.next()).toEqual([1])
    source.push(2, 3)
    await sleep(50)
    source.push(4)
    expect(await read.next()).toEqual([2, 3, 4])
    await read.stop()
  })

  test('an abort ends the wait for a message and closes the consumer', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 10_000 })
    const waiting = read.next()
    await read.stop()
    expect(await waiting).toBeUndefined()
    expect(source.closed).toBe(true)
  })

  test('an abort ends the wait for more messages, and the current batch is delivered', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 10_000 })
    source.push(1)
    expect(await read.next()).toEqual([1])
    const waiting = read.next()
    source.push(2, 3)
    await sleep(20)
    await read.stop()
    expect(await waiting).toEqual([2, 3])
    expect(await read.next()).toBeUndefined()
  })

  test('when the consumer ends, the remaining messages form the last batch', async () => {
    const source = openSource()
    const read = start(source, { intervalMs: 10_000 })
    source.push(1)
    expect(await read.next()).toEqual([1])
    source.push(2)
    const rest = read.next()
    await source.close()
    expect(await rest).toEqual([2])
    expect(await read.next()).toBeUndefined()
  })

  test('a reader that stops closes the consumer', async () => {
    const source = openSource()
    source.push(1)
    for await (const _batch of iterate(source, { intervalMs: 0 })) break
    expect(source.closed).toBe(true)
  })
})

test('no message is lost, repeated or reordered at any pace', async () => {
  const anyPace = fc.array(
    fc.record({ count: fc.integer({ min: 1, max: 9 }), pauseMs: fc.integer({ min: 0, max: 3 }) }),
    {
      maxLength: 12,
    },
  )
  await fc.assert(
    fc.asyncProperty(
      anyPace,
      fc.nat(4),
      fc.integer({ min: 1, max: 6 }),
      fc.nat(3),
      async (pace, intervalMs, full, slowMs) => {
        const source = openSource()
        const writing = (async () => {
          let number = 0
          for (const { count, pauseMs } of pace) {
            source.push(...Array.from({ length: count }, () => ++number))
            if (pauseMs > 0) await sleep(pauseMs)
          }
          await source.close()
          return number
        })()
        const seen: number[] = []
        for await (const batch of iterate(source, { intervalMs, full })) {
          expect(batch.length).toBeGreaterThan(0)
          expect(batch.length).toBeLessThanOrEqual(full)
          seen.push(...batch)
          if (slowMs > 0) await sleep(slowMs)
        }
        expect(seen).toEqual(Array.from({ length: await writing }, (_, index) => index + 1))
      },
    ),
    { numRuns: 60 },
  )
})

test('slow batches start less often, so that the database has time for other work', () => {
  expect(paceBatches(500, 20)).toBe(500)
  expect(paceBatches(500, 300)).toBe(900)
  expect(paceBatches(500, 10_000)).toBe(12_000)
})

type Options = { intervalMs: number; full?: number; bytes?: number; signal?: AbortSignal }

async function* iterate(source: ReturnType<typeof openSource>, options: Options) {
  const { intervalMs, full = 100, bytes = 1_000_000, signal } = options
  const read = batches(source as unknown as ConsumerMessages, {
    intervalMs: () => intervalMs,
    signal: signal ?? new AbortController().signal,
    most: { messages: full, bytes },
  })
  for await (const batch of read) yield batch.map(({ seq }) => seq)
}

function start(source: ReturnType<typeof openSource>, options: Options) {
  const stopping = new AbortController()
  const iterator = iterate(source, { ...options, signal: stopping.signal })
  return {
    next: async () => (await iterator.next()).value as number[] | undefined,
    async stop() {
      stopping.abort()
      await sleep(0)
    },
  }
}

/** Yields messages of ten bytes as a NATS consumer does: one by one, until it is closed and empty, or fails. */
function openSource() {
  const waiting: number[] = []
  let wake = Promise.withResolvers<void>()
  return {
    closed: false,
    fail(error: Error) {
      wake.reject(error)
    },
    push(...numbers: number[]) {
      waiting.push(...numbers)
      wake.resolve()
    },
    async close() {
      this.closed = true
      wake.resolve()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (waiting.length > 0) yield { seq: waiting.shift() as number, data: new Uint8Array(10) }
        if (this.closed) return
        wake = Promise.withResolvers<void>()
        await wake.promise
      }
    },
  }
}
