import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Access } from '@tributary/contract/operation'
import type { Ctx, Platform } from './context.ts'
import { AppError } from './errors.ts'

/*
 * Limits the memory for request bodies and the number of concurrent request handlers per workspace, so that one
 * workspace never blocks others; visitors' bodies have their own memory limit.
 */

export type Admission = {
  /** Reserves memory for a request body until the returned function is called. */
  reserve(sender: Sender, bytes: number): () => void
  /** Waits until the workspace has a free request slot; the returned function frees that slot. */
  enter(ctx: Asking, limit: Access['limit']): Promise<() => void>
}
type Asking = Pick<Ctx, 'workspaceId' | 'plan'>
/** The sender of a request body: a workspace with a secret key, or a visitor, named by IP network. */
export type Sender = { kind: 'workspace' | 'visitor'; name: string; plan: Ctx['plan'] | 'none' }

const megabyte = 1_048_576
/** Megabytes of request bodies in memory at once, per sender and for all workspaces or all visitors together. */
const bodyMegabytes = { workspace: { each: 16, all: 64 }, visitor: { each: 1, all: 16 } }
const mostWaiting = 1_000
// Requests for analytics get half of the slots, because their responses are the largest.
const heavyShare = 2
const longestWaitMs = 20_000
// Event loop utilization: limits per workspace start at the first value and are strictest at the second.
const idleUtilization = 0.2
const busyUtilization = 0.5
const sampleMs = 100
const activeMs = 1_000
// After a request, a busy process leaves its slot empty for up to twice the request's duration.
const restFactor = 2
const longestRestMs = 1_000

type Line = { name: string; workspaceId: string; isHeavy: boolean; running: number; waiting: (() => void)[] }

export function openAdmission(
  { config, metrics }: Pick<Platform, 'config' | 'metrics'>,
  readUtilization = openUtilization(),
): Admission {
  const reserved = new Map<string, number>()
  const queues = new Map<string, Line>()
  const readSpare = watchContention(readUtilization)

  function refuse({ plan }: Pick<Sender, 'plan'>, limit: string, message: string): AppError {
    metrics.limited.inc({ plan, limit })
    return new AppError('rate_limit_exceeded', `${message} Wait for responses before you send more.`)
  }

  function findLine(workspaceId: string, isHeavy: boolean): Line {
    const name = `${isHeavy ? 'heavy' : 'standard'} ${workspaceId}`
    const line = queues.get(name) ?? { name, workspaceId, isHeavy, running: 0, waiting: [] }
    queues.set(name, line)
    return line
  }

  /** Returns how many requests may run now, and how long a slot stays empty, as a multiple of its last request's duration. */
  function computeShare({ workspaceId, isHeavy, running, waiting }: Line): { most: number; rest: number } {
    const whole = Math.max(1, Math.floor(config.API_WORKSPACE_CONCURRENCY / (isHeavy ? heavyShare : 1)))
    const spare = readSpare(workspaceId)
    if (running + waiting.length <= whole / 2) return { most: whole, rest: 0 }
    return { most: Math.max(1, Math.round(whole * spare)), rest: restFactor * (1 - spare) }
  }

  function begin(line: Line): () => void {
    const startedAt = performance.now()
    return callOnce(() => {
      const restMs = Math.min(longestRestMs, computeShare(line).rest * (performance.now() - startedAt))
      if (restMs < 1) end(line)
      else setTimeout(end, restMs, line)
    })
  }

  function end(line: Line): void {
    const { most } = computeShare(line)
    for (line.running -= 1; line.running < most; line.running += 1) {
      const next = line.waiting.shift()
      if (!next) break
      next()
    }
    if (line.running === 0) queues.delete(line.name)
  }

  return {
    reserve(sender, bytes) {
      const { kind, name } = sender
      const { each, all } = bodyMegabytes[kind]
      const [own, total] = [`${kind} ${name}`, kind]
      const [mine = 0, everyones = 0] = [reserved.get(own), reserved.get(total)]
      if (mine > 0 && mine + bytes > each * megabyte) {
        throw refuse(sender, 'bodies', `This ${kind} sends more than ${each} MB of request bodies at the same time.`)
      }
      if (everyones > 0 && everyones + bytes > all * megabyte) {
        throw refuse(sender, 'bodies', 'The server has no memory for further request bodies.')
      }
      for (const share of [own, total]) add(reserved, share, bytes)
      return callOnce(() => {
        for (const share of [own, total]) add(reserved, share, -bytes)
      })
    },
    async enter(ctx, limit) {
      const line = findLine(ctx.workspaceId, limit !== 'standard')
      const { most } = computeShare(line)
      if (line.running < most && line.waiting.length === 0) {
        line.running += 1
        return begin(line)
      }
      if (line.waiting.length >= mostWaiting) {
        throw refuse(ctx, 'waiting', `${mostWaiting} requests of this workspace are queued, ${most} are running.`)
      }
      const isNext = await waitInLine(line)
      if (isNext) return begin(line)
      throw refuse(ctx, 'waiting', `Queued for ${longestWaitMs / 1_000} s behind other requests of this workspace.`)
    },
  }
}

/** Waits for a request slot; resolves with false when the wait times out. */
function waitInLine({ waiting }: Line): Promise<boolean> {
  return new Promise((resolve) => {
    const enter = () => {
      clearTimeout(timer)
      resolve(true)
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(enter), 1)
      resolve(false)
    }, longestWaitMs)
    waiting.push(enter)
  })
}

/**
 * Returns the event loop's spare time, from 0 to 1, while several workspaces send requests. A workspace that uses more
 * than half of its request slots keeps only that fraction of them, so that other workspaces stay fast.
 */
function watchContention(readUtilization: () => number): (workspaceId: string) => number {
  const askedAt = new Map<string, number>()
  let sampledAt = performance.now()
  let spare = 1
  return (workspaceId) => {
    const now = performance.now()
    // Moving the workspace to the end keeps the map ordered by last request.
    askedAt.delete(workspaceId)
    askedAt.set(workspaceId, now)
    if (now - sampledAt >= sampleMs) {
      sampledAt = now
      spare = Math.min(1, Math.max(0, (busyUtilization - readUtilization()) / (busyUtilization - idleUtilization)))
      for (const [id, at] of askedAt) {
        if (now - at < activeMs) break
        askedAt.delete(id)
      }
    }
    return askedAt.size > 1 ? spare : 1
  }
}

/** Returns the fraction of time the event loop was busy since the previous call. */
function openUtilization(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, last)
    last = current
    return utilization
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

function callOnce(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

const mostCharacters = 1_000_000
const chunkCharacters = 65_536

/** Serializes a value. Undefined for a list that is too long to serialize at once; `streamList` sends such a list. */
export function serialize(value: unknown): string | undefined {
  if (!Array.isArray(value)) return JSON.stringify(value)
  const parts: string[] = []
  let length = 0
  for (const item of value) {
    const part = JSON.stringify(item)
    length += part.length
    if (length > mostCharacters) return undefined
    parts.push(part)
  }
  return `[${parts.join(',')}]`
}

/** Streams a list as JSON, item by item, at the client's pace; cuts off a client that reads nothing for `stallMs`. */
export function streamList(
  list: unknown[],
  { stallMs, cut, ended }: { stallMs: number; cut(): void; ended(): void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  // A copy, because items are released as they are sent, and a cache may have the list.
  const items = [...list]
  let isEnded = false
  const end = callOnce(() => {
    isEnded = true
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
      async pull(controller) {
        // Without this pause, a client that reads fast would block other requests until the whole list is sent.
        await nextTurn()
        if (isEnded) return
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
