import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'

/*
 * A load generator process: `node bench/load.ts --url U --host H [--connections 64] [--seconds 10] [--rate N]
 * [--distinct [--first 1000000]] path [path …]`. Each connection sends its next request after the previous response, or
 * at the given `--rate`. With `--distinct` every request comes from another visitor: as behind a proxy, from another address
 * with one of some hundred user agents. Prints one line of JSON.
 */
const { values: given, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: '' },
    host: { type: 'string', default: '' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '0' },
    distinct: { type: 'boolean', default: false },
    first: { type: 'string', default: '1000000' },
  },
})
const { hostname, port } = new URL(given.url)
const [connections, seconds, rate] = [given.connections, given.seconds, given.rate].map(Number) as [
  number,
  number,
  number,
]
const systems = ['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'X11; Linux x86_64']
const requests = Array.from({ length: 5_000 }, (_, visitor) => Buffer.from(formatRequest(visitor)))
const latencies: number[] = []
let sent = 0
let planned = 0
let failures = 0

// Exits even if a response never arrives.
setTimeout(() => process.exit(1), (seconds + 5) * 1000).unref()
const started = performance.now()
const until = started + seconds * 1000
await Promise.all(Array.from({ length: connections }, () => keepAsking()))
const elapsed = (performance.now() - started) / 1000
latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
console.log(
  JSON.stringify({
    perSecond: latencies.length / elapsed,
    p50: at(0.5),
    p99: at(0.99),
    worst: at(0.99999),
    answered: latencies.length,
    failures,
  }),
)

function formatRequest(visitor: number): string {
  const system = systems[visitor % systems.length]
  const agent = `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${60 + (visitor % 90)}.0.0.0 Safari/537.36`
  const head = `GET ${paths[visitor % paths.length]} HTTP/1.1\r\nHost: ${given.host}\r\nUser-Agent: ${agent}\r\nAccept: text/html\r\n`
  return `${head}X-Forwarded-For: ${formatAddress(visitor)}\r\n\r\n`
}

/** An address between 32.0.0.0 and 63.255.255.255, another for each of 536 million visitors. */
function formatAddress(visitor: number): string {
  const bits = Math.imul(visitor, 0x9e3779b1) & 0x1fffffff
  return `${32 + (bits >>> 24)}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`
}

function nextRequest(): string | Buffer {
  const visitor = sent++
  // With `--distinct`, each request comes from a new visitor.
  return given.distinct ? formatRequest(Number(given.first) + visitor) : (requests[visitor % requests.length] as Buffer)
}

function keepAsking(): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(port), hostname)
    let asked = 0
    const ask = () => {
      if (performance.now() >= until) {
        socket.destroy()
        return resolve()
      }
      asked = performance.now()
      socket.write(nextRequest())
    }
    /** Each request has a moment of its own, so that requests do not arrive in groups as large as the number of connections. */
    const askInTime = () => {
      const early = rate > 0 ? started + (planned++ / rate) * 1000 - performance.now() : 0
      if (early > 1) setTimeout(ask, early)
      else ask()
    }
    socket.setNoDelay(true)
    socket.on('connect', askInTime)
    let received = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      if (received.subarray(9, 12).toString() !== '302') return socket.destroy(new Error('not a redirect'))
      if (!isWhole(received)) return
      received = Buffer.alloc(0)
      latencies.push(performance.now() - asked)
      askInTime()
    })
    socket.on('error', () => {
      failures += 1
      resolve()
    })
  })
}

/** Our own redirects end with their headers; those of others may have a body, which comes with the headers. */
function isWhole(response: Buffer): boolean {
  const end = response.indexOf('\r\n\r\n')
  if (end === response.length - 4) return true
  if (end === -1) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(response.subarray(0, end).toString('latin1'))?.[1]
  return response.length >= end + 4 + Number(length ?? 0)
}
