import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

const handedOut = new Set<number>()

// Below the ephemeral port range, so that the port stays free while a server restarts.
const lowestPort = 10_240
const highestPort = 32_767

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const port = randomInt(lowestPort, highestPort + 1)
    if (handedOut.has(port) || !(await canListen(port))) continue
    handedOut.add(port)
    return port
  }
  throw new Error(`no free port between ${lowestPort} and ${highestPort} on 127.0.0.1; stop the programs that use them`)
}

export async function firstAnswer(port: number, request: string, expected: RegExp): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    const signal = AbortSignal.timeout(1000)
    await once(socket, 'connect', { signal })
    if (request) socket.write(request)
    const [answer] = await once(socket, 'data', { signal })
    if (!expected.test(String(answer))) throw new Error(`the server sent ${String(answer)}`)
  } finally {
    socket.destroy()
  }
}

export function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
