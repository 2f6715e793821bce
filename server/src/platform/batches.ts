import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { sleep } from './clock.ts'
import type { Ctx } from './context.ts'
import { memoByObject } from './memo.ts'
import { transaction } from './postgres.ts'
import { judgeFailure } from './refusal.ts'

const longestRestMs = 2_000

/**
 * Returns the time between the starts of two batches: the interval, or more after a slow batch, so that a slow database
 * has two thirds of its time for other work.
 */
export function paceBatches(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, tookMs + Math.min(2 * tookMs, longestRestMs))
}

/** Splits a list into chunks of at most `size` items. */
export function* chunks<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/** The chunks of a list, each in an event-loop turn of its own, so that other work does not wait for all of them. */
export async function* chunksInTurns<T>(items: readonly T[], size: number): AsyncGenerator<T[]> {
  for (let start = 0; start < items.length; start += size) {
    if (start > 0) await nextTurn()
    yield items.slice(start, start + size)
  }
}

/** A request that shares its transaction with others: each has its own clock and actor. */
export type GroupedCall<Input> = { ctx: Ctx; input: Input }
type Calls<Input> = [GroupedCall<Input>, ...GroupedCall<Input>[]]
type Waiting<Input, Result> = GroupedCall<Input> & { done: PromiseWithResolvers<Result | undefined> }
/** `slow` counts those of the running groups that have run for more than `slowMs`. */
type Queue<Input, Result> = { running: number; slow: number; waiting: Waiting<Input, Result>[]; remove(): void }

const mostGroups = 4
const mostCalls = 64
// A group takes some milliseconds, unless it waits for a lock.
const slowMs = 100

/** Thrown inside a group to roll it back; every call of the group is then done alone. */
export class SeparateCallsError extends Error {}

/**
 * Group commit: concurrent requests of a workspace share one transaction, so that a row that all of them change is
 * locked once for all. A lone request runs at once; requests that arrive while a group runs form the next group, which
 * does not wait for a slow one. The result is undefined when the caller must do the request alone: it is already in a
 * transaction, the group returned undefined for it, or the group has data that PostgreSQL rejects.
 */
export function openGroupCommit<Input, Result>(
  record: (ctx: Ctx, calls: Calls<Input>) => Promise<(Result | undefined)[]>,
  /** One statement needs no BEGIN and COMMIT. */
  { isOneStatement = false } = {},
): (ctx: Ctx, input: Input) => Promise<Result | undefined> {
  const queuesByDb = memoByObject((_: Ctx['db']) => new Map<string, Queue<Input, Result>>())

  async function runGroup(group: Waiting<Input, Result>[]): Promise<void> {
    const calls = group as Waiting<Input, Result>[] & Calls<Input>
    try {
      const { ctx } = calls[0]
      const results = isOneStatement ? await record(ctx, calls) : await transaction(ctx, (ctx) => record(ctx, calls))
      for (const [index, { done }] of group.entries()) done.resolve(results[index])
    } catch (error) {
      const isSeparate = error instanceof SeparateCallsError || judgeFailure(error) === 'refused'
      for (const { done } of group) isSeparate ? done.resolve(undefined) : done.reject(error)
    }
  }

  /** Runs waiting groups one after another, beside slow ones. */
  async function runAll(queue: Queue<Input, Result>): Promise<void> {
    if (queue.running > queue.slow || queue.running >= mostGroups) return
    queue.running += 1
    let isSlow = false
    while (queue.waiting.length > 0 && !isSlow) {
      const timer = setTimeout(() => {
        isSlow = true
        queue.slow += 1
        if (queue.waiting.length > 0) void runAll(queue)
      }, slowMs)
      await runGroup(queue.waiting.splice(0, mostCalls))
      clearTimeout(timer)
    }
    queue.running -= 1
    if (isSlow) queue.slow -= 1
    if (queue.waiting.length > 0) await runAll(queue)
    else if (queue.running === 0) queue.remove()
  }

  return async (ctx, input) => {
    if (ctx.db.isTransaction) return undefined
    // A traced request has its own group, because its messages continue its trace.
    const key = `${ctx.workspaceId} ${ctx.tracing?.traceparent() ?? ''}`
    const queues = queuesByDb(ctx.db)
    const queue = queues.get(key) ?? { running: 0, slow: 0, waiting: [], remove: () => queues.delete(key) }
    queues.set(key, queue)
    const done = Promise.withResolvers<Result | undefined>()
    queue.waiting.push({ ctx, input, done })
    void runAll(queue)
    return done.promise
  }
}

type Options = { intervalMs: () => number; signal: AbortSignal; most: { messages: number; bytes: number } }

/**
 * Groups messages into batches: a lone message forms a batch at once; under load a batch has all messages since the
 * previous batch, up to `most`. The next batch is read while the caller handles the previous one.
 */
export async function* batches(
  source: ConsumerMessages,
  { intervalMs, signal, most }: Options,
): AsyncGenerator<JsMsg[]> {
  const stop = () => void source.close()
  signal.addEventListener('abort', stop, { once: true })
  let next = emptyBatch()
  let isStopped = false
  const read = async () => {
    for await (const message of source) {
      next.messages.push(message)
      next.bytes += message.data.length
      next.started.resolve()
      if (next.messages.length < most.messages && next.bytes < most.bytes) continue
      next.full.resolve()
      await next.taken.promise
      if (isStopped) return
    }
  }
  const reading = read().finally(() => {
    isStopped = true
    next.started.resolve()
    next.full.resolve()
  })
  // Without a handler, a failure during the caller's work would end the process; the last line throws it.
  reading.catch(() => {})
  let last = 0
  try {
    while (!signal.aborted) {
      await next.started.promise
      if (next.messages.length === 0) break
      await Promise.race([next.full.promise, patience(last + intervalMs(), signal)])
      const { messages, taken } = next
      next = emptyBatch()
      if (isStopped) next.started.resolve()
      taken.resolve()
      last = Date.now()
      yield messages
    }
    if (!signal.aborted) await reading
  } finally {
    signal.removeEventListener('abort', stop)
    isStopped = true
    next.taken.resolve()
    await Promise.allSettled([source.close(), reading])
  }
}

function emptyBatch() {
  const signals = { started: newSignal(), full: newSignal(), taken: newSignal() }
  return { messages: [] as JsMsg[], bytes: 0, ...signals }
}

function newSignal(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>()
}

async function patience(until: number, signal: AbortSignal): Promise<void> {
  const left = until - Date.now()
  // Even without time left, messages that are already in memory join the batch.
  await (left > 0 ? sleep(left, signal) : new Promise(setImmediate))
}
