import type { Operation } from '@tributary/contract/operation'
import { estimateBytes } from './byte-cache.ts'
import type { Ctx, Platform } from './context.ts'
import { AppError } from './errors.ts'

/*
 * What the requests of one workspace take of the process: memory for their bodies, and handlers that run at a time. The
 * requests of other workspaces go on beside them.
 */

export type Admission = {
  /** Reserves memory for a body until the returned function is called. */
  reserve(ctx: Asking, bytes: number): () => void
  /** Waits until fewer than the allowed number of requests of the workspace are worked on. */
  enter(ctx: Asking, limit: Operation['limit']): Promise<() => void>
}
type Asking = Pick<Ctx, 'workspaceId' | 'plan'>

const megabyte = 1_048_576
const bodyBytes = { workspace: 16 * megabyte, process: 64 * megabyte }
const mostWaiting = 1_000
// Their answers are the largest ones.
const analyticsShare = 2

export function openAdmission({ config, metrics }: Pick<Platform, 'config' | 'metrics'>): Admission {
  const reserved = new Map<string, number>()
  const running = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()
  let total = 0

  function refuse({ plan }: Asking, limit: string, message: string): AppError {
    metrics.limited.inc({ plan, limit })
    return new AppError('rate_limit_exceeded', `${message} Wait for answers before you send more.`)
  }

  function leave(name: string): void {
    const next = waiting.get(name)?.shift()
    if (waiting.get(name)?.length === 0) waiting.delete(name)
    if (next) next()
    else add(running, name, -1)
  }

  return {
    reserve(ctx, bytes) {
      const mine = reserved.get(ctx.workspaceId) ?? 0
      if (mine > 0 && mine + bytes > bodyBytes.workspace) {
        throw refuse(ctx, 'bodies', 'This workspace sends more than 16 MB of bodies at the same time.')
      }
      if (total > 0 && total + bytes > bodyBytes.process) {
        throw refuse(ctx, 'bodies', 'The server is reading as many bodies as it has memory for.')
      }
      add(reserved, ctx.workspaceId, bytes)
      total += bytes
      return once(() => {
        add(reserved, ctx.workspaceId, -bytes)
        total -= bytes
      })
    },
    async enter(ctx, limit) {
      const isHeavy = limit !== 'standard'
      const name = `${isHeavy ? 'heavy' : 'standard'} ${ctx.workspaceId}`
      const most = Math.max(1, Math.floor(config.API_WORKSPACE_CONCURRENCY / (isHeavy ? analyticsShare : 1)))
      if ((running.get(name) ?? 0) < most) {
        add(running, name, 1)
        return once(() => leave(name))
      }
      const queue = waiting.get(name) ?? []
      if (queue.length >= mostWaiting) {
        throw refuse(ctx, 'waiting', `${mostWaiting} requests of this workspace wait for the ${most} before them.`)
      }
      waiting.set(name, queue)
      await new Promise<void>((resolve) => queue.push(resolve))
      return once(() => leave(name))
    },
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

const streamedBytes = 2 * megabyte
const chunkCharacters = 65_536

/** A list whose text would be so long that it is better made while it is sent. */
export function isLargeList(value: unknown): value is unknown[] {
  return Array.isArray(value) && estimateBytes(value) > streamedBytes
}

/** The JSON of a list, item by item, as fast as the client takes it. One that takes nothing for `stallMs` is cut off. */
export function streamList(
  items: unknown[],
  { stallMs, cut, ended }: { stallMs: number; cut(): void; ended(): void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const end = once(() => {
    clearTimeout(timer)
    ended()
  })
  const stall = () => {
    end()
    cut()
  }
  let timer = setTimeout(stall, stallMs)
  let index = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        clearTimeout(timer)
        timer = setTimeout(stall, stallMs)
        let text = ''
        for (; index < items.length && text.length < chunkCharacters; index++) {
          text += `${index === 0 ? '[' : ','}${JSON.stringify(items[index])}`
          items[index] = undefined
        }
        if (index === items.length) text += items.length === 0 ? '[]' : ']'
        controller.enqueue(encoder.encode(text))
        if (index < items.length) return
        controller.close()
        end()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
