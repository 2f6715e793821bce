import { Worker } from 'node:worker_threads'
import { AppError, invalid } from '../../platform/errors.ts'
import type { DrawTask } from './draw.ts'
import type { DrawAnswer, DrawRequest } from './draw-thread.ts'

export type DrawWorker = {
  draw(task: DrawTask): Promise<Buffer<ArrayBuffer>>
  /** Whether the drawn code can be read by a scanner. */
  scan(task: DrawTask): Promise<boolean>
}

type Pending = { resolve(answer: DrawAnswer): void; reject(error: Error): void; timer: NodeJS.Timeout }

const timeoutMs = 10_000
const idleMs = 30_000
const mostHeapMb = 256

/** Draws QR codes in a thread of its own, so that requests of other visitors don't wait. An idle thread ends. */
export function openDrawWorker(): DrawWorker {
  const pending = new Map<number, Pending>()
  let thread: Worker | undefined
  let next = 0
  let idle: NodeJS.Timeout | undefined

  function end(ended: Worker | undefined, error: Error): void {
    if (ended !== thread) return
    thread = undefined
    ended?.terminate().catch(() => {})
    for (const { reject, timer } of pending.values()) {
      clearTimeout(timer)
      reject(error)
    }
    pending.clear()
  }

  function start(): Worker {
    const started = new Worker(new URL('./draw-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: mostHeapMb },
      env: {},
    })
    started.unref()
    started.on('message', (answer: DrawAnswer) => {
      const { resolve, timer } = pending.get(answer.id) ?? {}
      clearTimeout(timer)
      pending.delete(answer.id)
      resolve?.(answer)
    })
    started.on('error', (error) => end(started, error))
    started.on('exit', () => end(started, new Error('the drawing thread has ended')))
    return started
  }

  async function ask(task: DrawTask, isScan: boolean): Promise<DrawAnswer> {
    thread ??= start()
    const working = thread
    clearTimeout(idle)
    idle = setTimeout(() => end(thread, new Error('the drawing thread was idle')), idleMs).unref()
    const request: DrawRequest = { id: next++, task, isScan }
    const answer = await new Promise<DrawAnswer>((resolve, reject) => {
      const timer = setTimeout(() => end(working, tooSlow()), timeoutMs)
      pending.set(request.id, { resolve, reject, timer })
      working.postMessage(request)
    })
    if (answer.problem !== undefined) throw invalid(answer.problem)
    if (answer.failure !== undefined) throw new Error(answer.failure)
    return answer
  }

  return {
    async draw(task) {
      const { bytes } = await ask(task, false)
      return Buffer.from(bytes ?? new Uint8Array())
    },
    async scan(task) {
      return (await ask(task, true)).scans === true
    },
  }
}

function tooSlow(): AppError {
  return new AppError(
    'rate_limit_exceeded',
    'Drawing this QR code takes too long. Use a smaller size, or try again later.',
  )
}
