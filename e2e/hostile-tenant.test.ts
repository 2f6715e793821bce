import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { type BuiltWorkspace, buildConversionLink, buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { allowLoopback, startReceiver } from '../server/test/webhooks.ts'
import { worstBodies } from './hostile/bodies.ts'
import { callRepeatedly, readProcesses, watchMemory } from './hostile/watch.ts'

/** All of it with `npm run test:fat`; in CI a tenth. */
const isFull = process.env.HOSTILE === 'full'
const [leads, links, webhooks] = isFull ? [2_000, 2_000, 100] : [200, 200, 20]
const containerMegabytes = 900
const run = promisify(execFile)
const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))

test('a workspace that sends the fattest of everything breaks no process and slows no neighbour', async () => {
  await using parts = new AsyncDisposableStack()
  const engines = await startEngines({ only: ['nats', 'valkey', 'clickhouse'] })
  parts.defer(() => engines.stop())
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `hostile_${Date.now()}`)
  const environment = { ...inject('environment'), ...engines.urls, ...allowLoopback, POSTGRES_URL: database }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const server = await startServer({ ...environment, ROLES: 'api,redirect,worker' })
  parts.defer(async () => void (await server.stop()))
  // It answers late, so that deliveries pile up.
  const receiver = parts.use(
    await startReceiver((response) => void setTimeout(() => response.writeHead(204).end(), 2_000)),
  )
  const processes = await readProcesses(server.ops)
  expect(processes.map(({ role }) => role).sort()).toEqual(['api', 'redirect', 'worker'])

  const honest = await openHonest(platform, server)
  const alone = await honest.measure(async () => new Promise((resolve) => setTimeout(resolve, 5_000)))
  using memory = watchMemory(processes)
  const hostile = await openHostile(platform, server, receiver.url)
  const beside = await honest.measure(async () => {
    await hostile.sendLinks()
    await hostile.sendWebhooks()
    await hostile.visitLinks()
    await hostile.sendLeads()
    await hostile.readPages()
    await hostile.sendWorstBodies()
  })
  console.info({ alone, beside, memory: memory.highest(), statuses: Object.fromEntries(hostile.statuses) })

  const failures = server.log.filter((line) => line.includes('"level":"error"')).slice(0, 5)
  expect([[...hostile.statuses.keys()].filter((status) => status >= 500), failures]).toEqual([[], []])
  expect([...beside.statuses.keys()]).toEqual([200])
  expect(await readProcesses(server.ops)).toEqual(
    processes.map(({ role, pid }) => expect.objectContaining({ role, pid, restarts: 0 })),
  )
  expect(memory.highest().total).toBeLessThan(containerMegabytes)
  // On a busy machine everything takes longer, also without the neighbour.
  expect(beside.p99).toBeLessThan(Math.max(500, 3 * alone.p99))
  await honest.expectExact(environment)
}, 1_800_000)

type Server = { api: string; redirect: string }

async function call(
  { api }: Server,
  { key }: Pick<BuiltWorkspace, 'key'>,
  method: string,
  path: string,
  body?: string,
) {
  const response = await fetch(api + path, { method, headers: { authorization: `Bearer ${key}` }, body })
  await response.body?.pipeTo(new WritableStream())
  return response.status
}

async function openHonest(platform: Platform, server: Server) {
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace)
  let visits = 0
  const open = async () => {
    const headers = { host: workspace.domain, 'user-agent': `Mozilla/5.0 (X11; Linux) Firefox/${++visits}.0` }
    const { status } = await visit(`${server.redirect}/${link.key}`, headers)
    return status === 302 ? 200 : status
  }
  const ask = (method: string, path: string, body?: object) => () =>
    call(server, workspace, method, path, body && JSON.stringify(body))
  const calls = [
    ask('POST', '/links', { url: 'https://example.com/honest' }),
    ask('GET', `/links/info?linkId=${link.id}`),
    open,
    ask('GET', '/events?limit=10'),
    ask('GET', '/analytics?event=clicks'),
  ]
  return {
    async measure(work: () => Promise<void>) {
      const measuring = callRepeatedly(calls, 50)
      await work()
      return { ...(await measuring.stop()), statuses: measuring.statuses }
    },
    /** All clicks are counted, and `tributary verify` finds nothing. */
    async expectExact(environment: Record<string, string>) {
      await eventually(async () => {
        const response = await fetch(`${server.api}/links/info?linkId=${link.id}`, {
          headers: { authorization: `Bearer ${workspace.key}` },
        })
        expect(await response.json()).toMatchObject({ clicks: visits })
      }, 120_000)
      const env = { PATH: process.env.PATH, ...environment }
      const verified = await run(process.execPath, [main, 'verify', '--workspace', workspace.id], { env })
      expect(verified.stderr).not.toContain('differ')
    },
  }
}

async function openHostile(platform: Platform, server: Server, receiver: string) {
  const { workspace, click } = await buildConversionLink(platform)
  const statuses = new Map<number, number>()
  const keys: string[] = []
  const fat = (length: number) => `https://example.com/${randomUUID()}/${'x'.repeat(length)}`

  /** Many at a time; what is refused for its number is sent again. */
  async function send(count: number, make: (index: number) => { method: string; path: string; body?: string }) {
    let next = 0
    const sendSome = async () => {
      while (next < count) {
        const { method, path, body } = make(next++)
        for (let attempt = 0; attempt < 50; attempt++) {
          const status = await call(server, workspace, method, path, body)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status !== 429) break
          await new Promise((resolve) => setTimeout(resolve, 250))
        }
      }
    }
    await Promise.all(Array.from({ length: 32 }, sendSome))
  }

  return {
    statuses,
    sendLinks: () =>
      send(links, (index) => {
        const key = `fat-${index}`
        keys.push(key)
        const geo = { DE: fat(19_000), FR: fat(19_000), US: fat(19_000) }
        return { method: 'POST', path: '/links', body: JSON.stringify({ url: fat(1_000), key, geo }) }
      }),
    sendWebhooks: () =>
      send(webhooks, (index) => {
        const triggers = ['link.created', 'link.updated', 'link.clicked', 'lead.created']
        const url = `${receiver}${index}/${'x'.repeat(1_900)}`
        return { method: 'POST', path: '/webhooks', body: JSON.stringify({ name: `fat ${index}`, url, triggers }) }
      }),
    async visitLinks() {
      for (const key of keys) {
        const headers = { host: workspace.domain, 'user-agent': `Mozilla/5.0 (X11; Linux) Firefox/${key}` }
        const { status } = await visit(`${server.redirect}/${key}`, headers)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    },
    sendLeads: () =>
      send(leads, (index) => {
        const metadata = { text: randomUUID().repeat(275) }
        const lead = {
          clickId: click().id,
          eventName: 'fat',
          customerExternalId: `c${index}`,
          eventQuantity: 100,
          metadata,
        }
        return { method: 'POST', path: '/track/lead', body: JSON.stringify(lead) }
      }),
    readPages: () =>
      send(60, (index) => {
        const pages = [
          '/events?limit=450',
          '/events?limit=100',
          '/events?event=leads&limit=1000',
          '/links?pageSize=100',
        ]
        return { method: 'GET', path: pages[index % pages.length] as string }
      }),
    async sendWorstBodies() {
      const bodies = worstBodies()
      await send(bodies.length, (index) => bodies[index] as (typeof bodies)[number])
    },
  }
}
