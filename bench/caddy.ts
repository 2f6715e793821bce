import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { startCaddy } from '../deploy/test/caddy.ts'
import { readCpuMs } from './cpu.ts'
import { readArguments, report } from './figures.ts'

/**
 * `npm run bench:caddy [-- visits]`: CPU time of Caddy, with the shipped Caddyfile, for a visit on a new TLS connection and
 * on an open one. CPU time, unlike visits a second, hardly depends on other load.
 */
const [visits = 2_000] = readArguments().map(Number)
const connections = 16
const host = 'go.example.com'

// As long as what the redirect answers.
const upstream = createServer((_, response) => {
  const headers = {
    Location: 'https://www.example.com/shop/autumn?utm_source=mail&trib_id=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  }
  response.writeHead(302, { ...headers, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end()
})
const allowed = createServer((_, response) => response.end())
for (const server of [upstream, allowed]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = (server: typeof upstream) => `127.0.0.1:${(server.address() as AddressInfo).port}`

await using caddy = await startCaddy({
  API_HOST: 'api.example.com',
  REDIRECT_UPSTREAM: address(upstream),
  TLS_ASK_URL: `http://${address(allowed)}/`,
})
// The first visit waits for the certificate.
await visitSome(200, 1)
const rows = [
  ['visit on a new TLS connection', await measure(1)],
  ['visit on an open connection', await measure(100)],
]
report('caddy', { title: `${visits} visits`, columns: ['CPU µs of Caddy'], rows })
for (const server of [upstream, allowed]) {
  server.close()
  server.closeAllConnections()
}

async function measure(perConnection: number): Promise<number> {
  const before = readCpuMs(caddy.pid)
  await visitSome(visits, perConnection)
  return Math.round(((readCpuMs(caddy.pid) - before) * 1_000) / visits)
}

async function visitSome(count: number, perConnection: number): Promise<void> {
  let left = count
  const work = async () => {
    while (left > 0) {
      const mine = Math.min(left, perConnection)
      left -= mine
      await visitOnConnection(mine)
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
}

function visitOnConnection(count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: caddy.httpsPort, servername: host, ca: caddy.authority })
    let left = count
    let received = ''
    const send = () => socket.write(`GET /autumn HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench\r\n\r\n`)
    socket.once('secureConnect', send).once('error', reject)
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
      if (!received.includes('\r\n\r\n')) return
      if (!received.startsWith('HTTP/1.1 302')) return reject(new Error(received))
      received = ''
      left -= 1
      if (left > 0) return send()
      resolve()
      socket.destroy()
    })
  })
}
