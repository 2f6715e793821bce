import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'

const environment = inject('environment')
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const sentence = 'NATS 2.9.10 is too old: Tributary needs 2.12 or newer. Upgrade NATS, then start Tributary again.'

test.each<[string, Record<string, string>]>([
  ['migrate', {}],
  ['serve', { ROLES: 'worker' }],
  ['serve', { ROLES: 'worker,redirect' }],
])(
  '`tributary %s` with %j ends with one sentence when NATS is too old',
  async (command, settings) => {
    const NATS_URL = await startOldNats('2.9.10', environment.NATS_URL ?? '')
    const env = { PATH: process.env.PATH, ...environment, OPS_PORT: '0', REDIRECT_PORT: '0', ...settings, NATS_URL }
    const child = spawn(process.execPath, [main, command], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    const lines = (await text(child.stderr)).trimEnd().split('\n')
    expect(lines).toContain(sentence)
    expect(await ended).toEqual([1, null])
  },
  300_000,
)

/** The NATS server of this test run, which says that it has another version. */
async function startOldNats(version: string, url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  const server = createServer((client) => {
    const nats = connect(Number(port), hostname)
    sockets.push(client, nats)
    for (const socket of [client, nats]) socket.on('error', () => {})
    nats.on('data', (chunk) => {
      client.write(chunk.toString('latin1').replace(/^(INFO \{.*?"version":")[^"]*/m, `$1${version}`), 'latin1')
    })
    client.pipe(nats)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return `nats://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}
