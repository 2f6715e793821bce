import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Balancer = Disposable & {
  /** Sets the redirect processes that get visits from now on. */
  use(urls: string[]): void
  /** Sends a request and returns the status; retries another redirect process when a connection breaks. */
  send(request: Buffer): Promise<number>
}

type Target = { url: string; port: number; idle: Socket[]; downUntil: number }

const answerWithinMs = 15_000
const downForMs = 250

/** A load balancer that keeps connections open and skips redirect processes that are down. */
export function openBalancer(): Balancer {
  let targets: Target[] = []
  let turn = 0

  function choose(): Target | undefined {
    const now = performance.now()
    for (let tries = 0; tries < targets.length; tries++) {
      const target = targets[turn++ % targets.length] as Target
      if (target.downUntil <= now) return target
    }
  }

  return {
    use(urls) {
      const remaining = targets.filter(({ url }) => urls.includes(url))
      for (const target of targets) if (!remaining.includes(target)) closeIdle(target)
      const added = urls.filter((url) => !remaining.some((target) => target.url === url))
      targets = [
        ...remaining,
        ...added.map((url) => ({ url, port: Number(new URL(url).port), idle: [], downUntil: 0 })),
      ]
    },
    async send(request) {
      const until = performance.now() + answerWithinMs
      let problem: unknown = new Error('no redirect process is up')
      while (performance.now() < until) {
        const target = choose()
        if (!target) {
          await sleep(5)
          continue
        }
        try {
          return await ask(target, request, until - performance.now())
        } catch (error) {
          problem = error
          target.downUntil = performance.now() + downForMs
        }
      }
      throw problem
    },
    [Symbol.dispose]() {
      for (const target of targets) closeIdle(target)
    },
  }
}

/** Sends a request. Every expected response is a redirect without a body, so it ends with its headers. */
function ask(target: Target, request: Buffer, withinMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = target.idle.pop() ?? open(target)
    let answer = ''
    const fail = (error: Error) => {
      socket.removeAllListeners('close')
      socket.destroy()
      clearTimeout(timer)
      reject(error)
    }
    const timer = setTimeout(() => fail(new Error(`no response within ${Math.round(withinMs)} ms`)), withinMs)
    const closed = () => fail(new Error('the connection closed before the response'))
    const read = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.includes('\r\n\r\n')) return
      clearTimeout(timer)
      socket.off('data', read).off('close', closed)
      const status = Number(answer.slice(9, 12))
      if (status === 302) target.idle.push(socket)
      else socket.destroy()
      resolve(status)
    }
    socket.on('data', read).on('close', closed)
    socket.write(request)
  })
}

function open(target: Target): Socket {
  const socket = connect(target.port, '127.0.0.1')
  socket.setNoDelay(true)
  // The following close event reports the error.
  socket.on('error', () => {})
  socket.on('close', () => {
    target.idle = target.idle.filter((other) => other !== socket)
  })
  return socket
}

function closeIdle({ idle }: Target): void {
  for (const socket of idle) socket.destroy()
}
