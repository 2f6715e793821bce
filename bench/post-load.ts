import { connect, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'

/*
 * A load generator process for POST requests. Reads `PostLoad` as JSON from stdin; each connection sends its next body
 * after the previous response, or at the given `rate`, until `seconds` have passed or no body is left. Prints one line of
 * JSON.
 */
export type PostLoad = {
  url: string
  method?: 'POST' | 'PATCH'
  headers: Record<string, string>
  bodies: string[]
  connections: number
  seconds?: number
  /** Requests a second of all connections. Latencies count from the time at which a request is due. */
  rate?: number
}

const {
  url,
  method = 'POST',
  rate = 0,
  headers,
  bodies,
  connections,
  seconds = Number.POSITIVE_INFINITY,
} = (await json(process.stdin)) as PostLoad
const { hostname, port, pathname, host } = new URL(url)
const lines = Object.entries({ Host: host, ...headers, 'Content-Type': 'application/json' })
const head = `${method} ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
const requests = bodies.map((body) => `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
const latencies: number[] = []
let sent = 0
let failures = 0
let problem = ''

const started = performance.now()
await Promise.all(Array.from({ length: connections }, () => keepPosting()))
const elapsed = (performance.now() - started) / 1000
latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
const perSecond = latencies.length / elapsed
const figures = { perSecond, p50: at(0.5), p99: at(0.99), worst: at(0.99999), answered: latencies.length }
console.log(JSON.stringify({ ...figures, failures, problem }))

function keepPosting(): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(port), hostname)
    let asked = 0
    let received = ''
    const post = () => {
      const number = sent++
      const request = performance.now() - started < seconds * 1_000 ? requests[number] : undefined
      if (request === undefined) {
        socket.destroy()
        return resolve()
      }
      received = ''
      const due = rate > 0 ? started + (number / rate) * 1_000 : performance.now()
      const send = () => {
        asked = due
        socket.write(request)
      }
      if (due - performance.now() > 1) setTimeout(send, due - performance.now())
      else send()
    }
    socket.setNoDelay(true)
    socket.on('connect', post)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end))?.[1]
      if (end < 0 || received.length < end + 4 + Number(length ?? 0)) return
      if (received[9] === '2') latencies.push(performance.now() - asked)
      else {
        failures += 1
        problem ||= received
      }
      post()
    })
    socket.on('error', () => {
      failures += 1
      resolve()
    })
  })
}
