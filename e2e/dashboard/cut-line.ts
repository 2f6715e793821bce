import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Line = AsyncDisposable & {
  /** The address to use instead of the server's. */
  url: string
  /** Ends all connections, and refuses new ones until `restore`. */
  cut(): void
  restore(): void
}

/** A line to a server that can be cut: the server itself goes on. */
export async function openLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) return socket.destroy()
    const onward = connect(Number(port), hostname)
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const end = () => {
    for (const socket of open) socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true
      end()
    },
    restore() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      end()
      server.close()
      await once(server, 'close')
    },
  }
}
