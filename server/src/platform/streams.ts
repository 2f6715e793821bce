import type { StreamOperation } from '@tributary/contract/operation'
import { type Ctx, formatActor, type Platform } from './context.ts'
import { AppError } from './errors.ts'

export type Streamed = { headers: Record<string, string>; chunks: AsyncIterable<string> }

type Body = { headers: Record<string, string>; body: ReadableStream<Uint8Array> }
export type Streams = AsyncDisposable & {
  /** Opens a stream. Errors before the first byte reject; later ones `cut` the connection, so that clients notice. */
  open(
    ctx: Ctx,
    operation: StreamOperation,
    start: (signal: AbortSignal) => Promise<Streamed>,
    cut: () => void,
    /** Throws an `AppError` when the API key may no longer read the stream; called every few seconds. */
    recheck: () => Promise<void>,
  ): Promise<Body>
}

// With the key cache's time to live, a stream ends within five seconds of its API key's revocation.
const recheckIntervalMs = 3_000

/** Manages the open streams of a process; disposing ends all of them. */
export function openStreams({ config, metrics, log }: Pick<Platform, 'config' | 'metrics' | 'log'>): Streams {
  const openStreams = new Map<string, number>()
  const closing = new AbortController()

  function enter(ctx: Ctx, { id, path, openPerActor }: StreamOperation): () => void {
    const name = `${id} ${ctx.actor.id}`
    const open = openStreams.get(name) ?? 0
    if (open >= openPerActor) {
      metrics.limited.inc({ plan: ctx.plan, limit: id })
      const advice = 'Close one, or wait until one ends.'
      throw new AppError(
        'rate_limit_exceeded',
        `This ${ctx.actor.kind} has ${open} open streams of ${path}, the maximum. ${advice}`,
      )
    }
    openStreams.set(name, open + 1)
    metrics.openStreams.inc({ operation: id })
    return () => {
      const left = (openStreams.get(name) ?? 1) - 1
      if (left === 0) openStreams.delete(name)
      else openStreams.set(name, left)
      metrics.openStreams.dec({ operation: id })
    }
  }

  return {
    async open(ctx, operation, start, cut, recheck) {
      const exit = enter(ctx, operation)
      const closed = new AbortController()
      const stream = { requestId: ctx.requestId, operation: operation.id, actor: formatActor(ctx.actor) }
      const rechecking = setInterval(() => {
        recheck().catch((error: unknown) => {
          // An error other than `AppError`, such as PostgreSQL being down, does not end the stream.
          if (!(error instanceof AppError)) return
          clearInterval(rechecking)
          log.info({ ...stream, code: error.code }, 'stream ended: its API key is no longer valid')
          closed.abort()
          cut()
        })
      }, recheckIntervalMs)
      const leave = () => {
        clearInterval(rechecking)
        exit()
      }
      try {
        const { headers, chunks } = await start(AbortSignal.any([closed.signal, closing.signal]))
        const iterator = chunks[Symbol.asyncIterator]()
        const first = await iterator.next()
        const onFailure = (error: unknown) => {
          log.error({ error, ...stream }, 'stream failed')
          cut()
        }
        const onStall = () => {
          log.info(stream, 'slow reader disconnected')
          cut()
        }
        const onEnd = () => {
          closed.abort()
          leave()
        }
        return { headers, body: streamBody(iterator, first, config.STREAM_STALL_MS, { onFailure, onStall, onEnd }) }
      } catch (error) {
        leave()
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
    },
  }
}

type Watchers = { onFailure: (error: unknown) => void; onStall: () => void; onEnd: () => void }

/** Pulls the next chunk after the previous one was sent, so that a slow client buffers at most one chunk. */
function streamBody(
  iterator: AsyncIterator<string>,
  first: IteratorResult<string>,
  stallMs: number,
  { onFailure, onStall, onEnd }: Watchers,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let ready: IteratorResult<string> | undefined = first
  let stall: NodeJS.Timeout | undefined
  let hasEnded = false
  const end = () => {
    clearTimeout(stall)
    if (!hasEnded) onEnd()
    hasEnded = true
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall)
        try {
          const { done, value } = ready ?? (await iterator.next())
          ready = undefined
          if (hasEnded) return
          if (done) {
            end()
            return controller.close()
          }
          stall = setTimeout(onStall, stallMs)
          controller.enqueue(encoder.encode(value))
        } catch (error) {
          end()
          onFailure(error)
        }
      },
      async cancel() {
        end()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
