import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server with as much SMTP as one message needs. */
export async function startMailServer(
  answers: Record<string, string> = {},
): Promise<{ port: number; said: string[]; server: Server }> {
  const said: string[] = []
  const server = createServer((socket) => {
    let inMessage = false
    socket.on('error', () => {})
    socket.write('220 ready\r\n')
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').filter(Boolean)) {
        said.push(line)
        const verb = line.split(' ', 1)[0] ?? ''
        if (inMessage && line !== '.') continue
        inMessage = verb === 'DATA'
        socket.write(`${answers[verb] ?? (inMessage ? '354 go on' : '250 ok')}\r\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, said, server }
}
