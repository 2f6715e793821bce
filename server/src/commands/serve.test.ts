import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { findNats } from '../../../engines/nats.ts'
import { freePort } from '../../../engines/port.ts'
import { startEngines } from '../../../engines/start.ts'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { buildUnpublishedLink } from '../../test/redirect/unpublished-link.ts'
import { startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { visit } from '../../test/visit.ts'
import { linkChangedSubjectIn } from '../features/links/messages.ts'
import { eventStream } from '../platform/nats.ts'

// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 })
const platform = await openTestPlatform()
const environment = inject('environment')
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

test('SIGTERM ends the process with exit code 0, after the request in progress', async () => {
  const server = await startServer({ ...environment, SHUTDOWN_GRACE_MS: '20000' })
  onTestFinished(() => server.kill('SIGKILL'))
  const { key } = await buildWorkspace(platform)
  // An idle keep-alive connection must not delay the shutdown.
  await fetch(`${server.api}/links`)
  const body = JSON.stringify({ url: 'https://example.com' })
  const socket = connect(Number(new URL(server.api).port), '127.0.0.1')
  const answer = text(socket)
  const head = [
    'POST /links HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  await eventually(async () => expect(await lastUse(key)).not.toBeNull())

  const stopped = server.stop()
  await eventually(async () => {
    expect(server.log.some((line) => line.includes('"msg":"Stopping"'))).toBe(true)
    await expect(fetch(`${server.api}/healthz`)).rejects.toThrow()
  })
  const started = performance.now()
  socket.write(body.slice(5))
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.+"url":"https:\/\/example\.com"/s)
  expect(await stopped).toBe(0)
  expect(performance.now() - started).toBeLessThan(12_000)
  expect(server.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
})

test.each([
  ['one process for each role', 'api,redirect'],
  ['a single process', 'api'],
])('%s serves during SHUTDOWN_DRAIN_MS, while health checks fail and connections end', async (_, ROLES) => {
  const server = await startServer({ ...environment, ROLES, SHUTDOWN_DRAIN_MS: '4000' })
  onTestFinished(() => server.kill('SIGKILL'))
  const { key } = await buildWorkspace(platform)
  const list = () => fetch(`${server.api}/links`, { headers: { Authorization: `Bearer ${key}` } })
  const first = await list()
  expect([first.status, first.headers.get('connection')]).toEqual([200, 'keep-alive'])

  const started = performance.now()
  const stopped = server.stop()
  await eventually(async () => {
    const answers = await Promise.all(['healthz', 'readyz'].map((path) => fetch(`${server.ops}/${path}`)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
  })
  await eventually(async () => expect((await list()).headers.get('connection')).toBe('close'))
  expect((await list()).status).toBe(200)
  expect(await stopped).toBe(0)
  expect(performance.now() - started).toBeGreaterThanOrEqual(4_000)
})

test('a process whose NATS and Valkey are down still ends with exit code 0, within the grace period', async () => {
  const engines = await startEngines({ only: ['nats', 'valkey'] })
  onTestFinished(() => engines.stop())
  // Without a cache of compiled code, whose first writing takes seconds of a busy machine when a process ends.
  const own = { ...engines.urls, SHUTDOWN_GRACE_MS: '8000', NODE_COMPILE_CACHE: '' }
  const server = await startServer({ ...environment, ...own })
  onTestFinished(() => server.kill('SIGKILL'))
  await Promise.all(Object.values(engines.processes).map((engine) => engine.stop()))
  await eventually(async () => expect((await fetch(`${server.ops}/readyz`)).status).toBe(503))
  const started = performance.now()
  expect(await server.stop()).toBe(0)
  expect(performance.now() - started).toBeLessThan(8_000)
})

test('a single redirect process redirects while NATS stores nothing', async () => {
  const port = await freePort()
  const engine = spawn((await findNats()) as string, ['--addr', '127.0.0.1', '--port', String(port)], {
    stdio: 'ignore',
  })
  onTestFinished(() => void engine.kill('SIGKILL'))
  const workspace = await buildWorkspace(platform)
  const { key } = await buildLink(platform, workspace)
  const server = await startServer({ ...environment, NATS_URL: `nats://127.0.0.1:${port}`, ROLES: 'redirect' })
  onTestFinished(() => server.kill('SIGKILL'))
  expect((await visit(`${server.redirect}/${key}`, { host: workspace.domain })).status).toBe(302)
})

test('a redirect process that starts without NATS redirects; when NATS starts, it logs the clicks and follows changes', async () => {
  const engines = await startEngines({ only: ['nats'] })
  onTestFinished(() => engines.stop())
  const folder = await mkdtemp(join(tmpdir(), 'tributary-serve-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const own = { ...environment, ...engines.urls, SPOOL_DIRECTORY: folder }
  await engines.processes.nats?.stop()
  const { link } = await buildUnpublishedLink(platform, { key: 'go' })
  const server = await startServer({ ...own, ROLES: 'redirect' })
  onTestFinished(() => server.kill('SIGKILL'))
  const open = async () => (await visit(`${server.redirect}/go`, { host: link.domain })).headers.location
  expect(await open()).toBe(link.url)

  await engines.processes.nats?.restart()
  const connected = await openTestPlatform(own)
  await eventually(async () => {
    const manager = await jetstreamManager(connected.nats)
    const stored = [0, 1].map(async (partition) => (await manager.streams.info(eventStream(partition))).state.messages)
    expect((await Promise.all(stored)).reduce((sum, messages) => sum + messages, 0)).toBe(1)
  })
  expect(await open()).toBe(link.url)
  const changed = 'https://example.com/changed'
  await sql`UPDATE links SET url = ${changed} WHERE id = ${link.id}`.execute(platform.db)
  const address = { domain: link.domain, lookupKey: 'go', workspaceId: '', linkNumber: '0', folderId: '', tenantId: '' }
  const change = { ...address, isRoot: false, partnerId: '', tagIds: [], deleted: false, version: 1 }
  connected.nats.publish(linkChangedSubjectIn(0), JSON.stringify(change))
  await eventually(async () => expect(await open()).toBe(changed), 5_000)
})

test('a single process is ready when it listens', async () => {
  const [apiPort, opsPort] = [await freePort(), await freePort()]
  const ports = { API_PORT: String(apiPort), OPS_PORT: String(opsPort) }
  const env = { PATH: process.env.PATH, ...environment, ...ports, ROLES: 'api' }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ask = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  const statuses = new Set<number>()
  await eventually(async () => {
    statuses.add(await ask(opsPort, '/readyz'))
    expect(statuses).toContain(200)
  })
  expect(await ask(apiPort, '/healthz')).toBe(200)
  expect(statuses).toEqual(new Set([503, 200]))
})

test('a taken port is reported in one line, and the process ends', async () => {
  const { port } = new URL(inject('server').api)
  const env = { PATH: process.env.PATH, ...environment, OPS_PORT: '0', API_PORT: port }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(await ended).toEqual([1, null])
  expect(stdout).toBe('')
  const lines = stderr.trimEnd().split('\n')
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([
    `Port ${port} on 127.0.0.1 is in use. Set another port.`,
  ])
})

async function lastUse(key: string): Promise<Date | null> {
  const found = await platform.db
    .withTables<{ tokens: { last_four: string; last_used_at: Date | null } }>()
    .selectFrom('tokens')
    .select('last_used_at')
    .where('last_four', '=', key.slice(-4))
    .executeTakeFirst()
  return found?.last_used_at ?? null
}
