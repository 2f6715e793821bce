import { connect, type Socket } from 'node:net'

/** How a request is sent; only `whole` ones share a connection. */
export type Way = {
  /** Bytes to write one after the other, with a pause between them. */
  parts: Buffer[]
  pauseMs?: number
  /** `wait` for responses; `end` half of the connection first; `reset` it at once; `hold` it, reading at most so long. */
  after: 'wait' | 'end' | 'reset' | 'hold'
  readForMs?: number
  /** Whether other requests may use the connection before and after. */
  isShared: boolean
  /** Responses to expect, and whether each is without a body. */
  heads: boolean[]
}
/** `closed`: no response before the connection closed; `hung`: none in time; `left`: we did not wait for one. */
export type Outcome = { status: number | 'closed' | 'hung' | 'left'; ms: number; text: string }

const hungAfterMs = 60_000
const textLength = 600

/** A connection slot: it sends one input at a time, on a shared connection if the input allows. */
export function openLane(port: number) {
  let shared: Socket | undefined

  async function exchange(way: Way): Promise<Outcome[]> {
    if (!way.isShared) return send(connect(port, '127.0.0.1'), way)
    const isReused = shared !== undefined && !shared.destroyed && shared.writable
    const socket = isReused && shared ? shared : connect(port, '127.0.0.1')
    shared = socket
    const outcomes = await send(socket, way)
    // The server may close an idle connection just when it is used again.
    if (isReused && outcomes.every(({ status, ms }) => status === 'closed' && ms < 50)) return exchange(way)
    return outcomes
  }
  return { exchange, [Symbol.dispose]: () => void shared?.destroy() }
}

function send(socket: Socket, way: Way): Promise<Outcome[]> {
  const started = performance.now()
  const outcomes: Outcome[] = []
  const { promise, resolve } = Promise.withResolvers<Outcome[]>()
  const timers: NodeJS.Timeout[] = []
  const reader = openReader(
    () => way.heads[outcomes.length] ?? false,
    (status, keeps, text) => {
      outcomes.push({ status, ms: performance.now() - started, text })
      if (outcomes.length >= way.heads.length) conclude('closed', way.isShared && keeps)
      else if (!keeps) conclude('closed', false)
    },
  )

  function conclude(missing: 'closed' | 'hung' | 'left', keeps: boolean): void {
    for (const timer of timers) clearTimeout(timer)
    const ms = performance.now() - started
    // The status of a stream arrives long before its end.
    const begun = reader.begun()
    if (begun && outcomes.length < way.heads.length && missing === 'left')
      outcomes.push({ status: begun, ms, text: '' })
    while (outcomes.length < way.heads.length) outcomes.push({ status: missing, ms, text: '' })
    socket.removeAllListeners()
    socket.on('error', () => {})
    if (!keeps) socket.destroy()
    resolve(outcomes)
  }

  socket.setNoDelay(true)
  socket.on('error', () => conclude('closed', false))
  socket.on('data', (chunk) => reader.push(chunk))
  socket.on('close', () => {
    reader.end()
    conclude('closed', false)
  })
  const limitMs = way.after === 'hold' ? (way.readForMs ?? 1_000) : hungAfterMs
  timers.push(setTimeout(() => conclude(way.after === 'hold' ? 'left' : 'hung', false), limitMs))
  const write = (index: number) => {
    const part = way.parts[index]
    if (part && !socket.destroyed) socket.write(part)
    if (index + 1 < way.parts.length) timers.push(setTimeout(() => write(index + 1), way.pauseMs ?? 0))
    else if (way.after === 'end') socket.end()
    else if (way.after === 'reset') timers.push(setTimeout(() => conclude('left', false), way.readForMs ?? 0))
  }
  write(0)
  return promise
}

type Response = { status: number; keeps: boolean; mode: 'length' | 'chunks' | 'close'; left: number; isLast: boolean }

/** Reads HTTP responses from a connection; keeps only the beginning of each body. */
function openReader(isHead: () => boolean, done: (status: number, keeps: boolean, text: string) => void) {
  let buffer: Buffer = Buffer.alloc(0)
  let current: Response | undefined
  let text = ''

  function finish({ status, keeps }: Response): boolean {
    current = undefined
    const whole = text
    text = ''
    done(status, keeps, whole)
    return buffer.length > 0
  }

  function begin(): boolean {
    const end = buffer.indexOf('\r\n\r\n')
    if (end === -1) return false
    const head = buffer.toString('latin1', 0, end)
    buffer = buffer.subarray(end + 4)
    const status = Number(head.slice(9, 12))
    if (status >= 100 && status < 200) return true
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    const isEmpty = isHead() || status === 204 || status === 304
    const isChunked = !isEmpty && /\r\ntransfer-encoding: chunked/i.test(head)
    const mode = isChunked ? 'chunks' : isEmpty || length !== undefined ? 'length' : 'close'
    const left = isEmpty || isChunked ? 0 : Number(length ?? Number.POSITIVE_INFINITY)
    current = { status, keeps: mode !== 'close' && !/\r\nconnection: close/i.test(head), mode, left, isLast: false }
    return current.left > 0 || isChunked || finish(current)
  }

  function step(): boolean {
    if (!current) return begin()
    if (current.mode === 'chunks' && current.left === 0) {
      const end = buffer.indexOf('\r\n')
      if (end === -1) return false
      const size = Number.parseInt(buffer.toString('latin1', 0, end), 16)
      buffer = buffer.subarray(end + 2)
      current.isLast = size === 0
      current.left = size + 2
    }
    const taken = Math.min(current.left, buffer.length)
    if (text.length < textLength) text += buffer.toString('utf8', 0, Math.min(taken, textLength))
    buffer = buffer.subarray(taken)
    current.left -= taken
    if (current.left > 0) return false
    return current.mode === 'chunks' && !current.isLast ? buffer.length > 0 : finish(current)
  }

  return {
    begun: () => current?.status,
    push(chunk: Buffer): void {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
      while (buffer.length > 0 && step());
    },
    end(): void {
      if (current?.mode === 'close') finish(current)
    },
  }
}
