import { connect, type Socket } from 'node:net'

/*
 * A load generator in a process of its own: `node bench/load.ts <url> <connections> <seconds> <host> <path> [path …]`.
 * Each connection sends its next request when the answer to the last one has come. Prints one line of JSON.
 */
const [url = '', connections = '64', seconds = '10', host = '', ...paths] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const requests = Array.from({ length: 5_000 }, (_, visitor) => {
  const path = paths[visitor % paths.length]
  const agent = `Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/${visitor}.0`
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${agent}\r\nAccept: text/html\r\n\r\n`)
})
const latencies: number[] = []
let sent = 0
let failures = 0

// An answer that never comes must not keep the measurement.
setTimeout(() => process.exit(1), (Number(seconds) + 5) * 1000).unref()
const until = performance.now() + Number(seconds) * 1000
const started = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, () => keepAsking()))
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
      socket.write(requests[sent++ % requests.length] as Buffer)
    }
    socket.setNoDelay(true)
    socket.on('connect', ask)
    // Every answer here is a redirect without a body, so its head ends it.
    socket.on('data', (chunk) => {
      if (chunk.subarray(9, 12).toString() !== '302') return socket.destroy(new Error('not a redirect'))
      if (chunk.lastIndexOf('\r\n\r\n') !== chunk.length - 4) return
      latencies.push(performance.now() - asked)
      ask()
    })
    socket.on('error', () => {
      failures += 1
      resolve()
    })
  })
}
