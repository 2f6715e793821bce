import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { buildNetwork, netnsExec, openNetwork, whyNoNetwork } from '../e2e/rehearsal/network.ts'
import { findOnPath } from '../engines/programs.ts'
import { eventually } from '../server/test/stack.ts'
import { temporaryFolder } from './test/program.ts'

const run = promisify(execFile)
const reason = await whyNoNetwork()
if (reason) console.warn(`Caddy with several servers is not tested: ${reason}.`)

/** Answers visits with its name, after three seconds if the path is /slow, and health checks on OPS_PORT. */
const server = `
const { createServer } = require('node:http')
createServer((request, response) => {
  setTimeout(() => response.end(process.argv[1]), request.url === '/slow' ? 3_000 : 0)
}).listen(3001)
createServer((_, response) => response.end()).listen(3002)`

const nodes = [
  { name: 'caddy', region: 1, address: '10.77.1.11' },
  { name: 'redirect-1', region: 1, address: '10.77.1.21' },
  { name: 'redirect-2', region: 2, address: '10.77.2.21' },
] as const

test.skipIf(reason !== undefined)(
  'CADDY_SERVERS=several: visits at a server that dies or loses its power get their response from another one',
  async () => {
    await using folder = await temporaryFolder()
    const id = `${process.pid}`
    await using _ = await buildNetwork(id, [...nodes])
    const network = openNetwork(id)
    const startServer = (name: string) =>
      network.spawn(name, process.execPath, ['-e', server, name], { stdio: 'inherit' })
    startServer('redirect-1')
    startServer('redirect-2')
    const [caddy = 'caddy'] = await findOnPath('caddy')
    const env = {
      API_HOST: 'api.example.com',
      REDIRECT_UPSTREAM: '10.77.1.21:3001 10.77.2.21:3001',
      CADDY_SERVERS: 'several',
      CADDY_TLS: 'internal',
      CADDY_ADMIN: 'off',
      XDG_DATA_HOME: folder.path,
      XDG_CONFIG_HOME: folder.path,
    }
    const config = join(import.meta.dirname, 'caddy/Caddyfile')
    network.spawn('caddy', caddy, ['run', '--config', config], { stdio: 'ignore', env })
    const visit = async (path = '/') => {
      const command = ['-sS', '--max-time', '30', '--header', 'Host: go.example.com', `http://127.0.0.1${path}`]
      return (await run('ip', netnsExec(id, 'caddy', 'curl', command))).stdout
    }
    const visitOften = async () => new Set(await Promise.all(Array.from({ length: 8 }, () => visit())))
    await eventually(async () => expect(await visitOften()).toEqual(new Set(['redirect-1', 'redirect-2'])), 30_000)

    // Both servers work on slow visits when one of them dies.
    const slow = Promise.all([visit('/slow'), visit('/slow'), visit('/slow'), visit('/slow')])
    await sleep(500)
    await network.kill('redirect-1')
    expect(await slow).toEqual(Array.from({ length: 4 }, () => 'redirect-2'))

    startServer('redirect-1')
    await eventually(async () => expect(await visitOften()).toContain('redirect-1'), 30_000)
    const inFlight = Promise.all([visit('/slow'), visit('/slow')])
    await sleep(500)
    await network.unplug('redirect-2')
    expect(await inFlight).toEqual(['redirect-1', 'redirect-1'])
    // No visit waits for a server that is known to be silent.
    const began = performance.now()
    for (let count = 0; count < 5; count++) expect(await visit()).toBe('redirect-1')
    expect(performance.now() - began).toBeLessThan(6_000)
  },
)
