import { openStreamParser } from './sse.ts'

/** `offline` after several attempts have failed; attempts go on. `failed` when an attempt can't succeed. */
export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'offline' | 'failed'

export type Following = {
  /** Opens the stream after an id, or from now on. Rejects with the server's refusal. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  /** Called when the stream is open; `isResumed` if it continues where it was cut, so that nothing is missing. */
  onOpen(isResumed: boolean): void
  /** Called with the data of the messages of one piece of the stream. */
  onData(data: string[]): void
  onState(state: StreamState, error?: unknown): void
  /** What to do about a refusal: try again, try again without the id, or give up. */
  judge(error: unknown): 'retry' | 'restart' | 'fail'
  /** Waits, or less if the network is back before. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  random(): number
  signal: AbortSignal
}

const firstMs = 1_000
const longestMs = 30_000
const offlineAfter = 3
/** The server sends something every 15 seconds. */
const silentMs = 45_000

/** Follows an event stream until `signal` aborts. After a cut it resumes after the last message that was received. */
export async function followStream(following: Following): Promise<void> {
  const { onState, judge, wait, random, signal } = following
  let lastEventId: string | undefined
  let failures = 0
  onState('connecting')
  while (!signal.aborted) {
    try {
      for await (const id of readOnce(following, lastEventId)) {
        lastEventId = id
        failures = 0
      }
    } catch (error) {
      if (signal.aborted) return
      const judgement = judge(error)
      if (judgement === 'fail') return onState('failed', error)
      if (judgement === 'restart') lastEventId = undefined
    }
    if (signal.aborted) return
    failures += 1
    onState(failures > offlineAfter ? 'offline' : 'reconnecting')
    await wait(backoffMs(failures, random()), signal)
  }
}

/** The time before an attempt: twice as long after each failure, with jitter, so that not all pages come back at once. */
export function backoffMs(failures: number, random: number): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (0.5 + random / 2)
}

/** Reads one connection to its end; yields the id of each message after it was handed on. */
async function* readOnce(following: Following, lastEventId: string | undefined): AsyncGenerator<string | undefined> {
  const { open, onOpen, onData, onState, signal } = following
  const attempt = new AbortController()
  const end = () => attempt.abort()
  let timer = setTimeout(end, silentMs)
  const ended = AbortSignal.any([signal, attempt.signal])
  try {
    const reader = (await open(lastEventId, ended)).getReader()
    ended.addEventListener('abort', () => void reader.cancel().catch(() => {}))
    const decoder = new TextDecoder()
    const parse = openStreamParser()
    let isOpen = false
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(timer)
      timer = setTimeout(end, silentMs)
      const messages = parse(decoder.decode(piece.value, { stream: true }))
      if (messages.length === 0) continue
      if (!isOpen) {
        isOpen = true
        onState('live')
        onOpen(lastEventId !== undefined)
      }
      const data = messages.flatMap((message) => message.data ?? [])
      if (data.length > 0) onData(data)
      yield messages.at(-1)?.id
    }
  } finally {
    clearTimeout(timer)
    end()
  }
}
