import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@tributary/contract/client'
import { listLinks } from '@tributary/contract/links'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, expect, inject, test } from 'vitest'
import { pastClicks, sendToLog } from '../demo/visitors.ts'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import type { SupervisedReadiness } from '../server/src/commands/role-health.ts'
import { clickKeys } from '../server/src/features/click-ids/service.ts'
import { linkNumbers } from '../server/src/features/links/service.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { sized } from '../server/test/size.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

// Starting four processes takes long on a busy machine.
const patienceMs = 180_000
const perSecond = 200
// Grace period that is longer than any test here takes, also on a busy machine.
const graceMs = 30_000

const engines = await startEngines({ only: ['nats', 'valkey', 'clickhouse'] })
const folder = await mkdtemp(join(tmpdir(), 'tributary-processes-'))
const settings = {
  ...inject('environment'),
  ...engines.urls,
  POSTGRES_URL: await createDatabase(inject('environment').POSTGRES_URL as string, `processes_${Date.now()}`),
  REDIRECT_PROCESSES: '3',
  SPOOL_DIRECTORY: folder,
  SHUTDOWN_GRACE_MS: String(graceMs),
}
const platform = await openTestPlatform(settings)
await migrate(platform.config, platform.clickhouse, () => {})
const workspace = await buildWorkspace(platform)
const link = await buildLink(platform, workspace, { key: 'processes' })
let server: ServerProcess
let visitors = 0

beforeEach(async () => {
  server = await startServer(settings)
}, patienceMs)
afterEach(async () => {
  await server.stop()
}, patienceMs)
afterAll(async () => {
  await engines.stop()
  await rm(folder, { recursive: true, force: true })
}, patienceMs)

test('three redirect processes share one port, each with its own spool, and /readyz shows every process', async () => {
  const load = keepOpening({ connection: 'close' })
  await eventually(async () => {
    const text = await (await fetch(`${server.ops}/metrics`)).text()
    for (const slot of [0, 1, 2]) {
      expect(text).toMatch(
        new RegExp(`^tributary_redirects_total\\{status="302",role="redirect",slot="${slot}"\\} `, 'm'),
      )
    }
  }, patienceMs)
  const { answers } = await load.stop()
  expect([...answers.keys()]).toEqual([302])
  await eventually(async () => expect(await counted()).toBe(answers.get(302)), patienceMs)
  const spools = (await readdir(folder)).filter((name) => !name.endsWith('.lock'))
  expect(spools.sort()).toEqual(['clicks', 'clicks-1', 'clicks-2', 'page-clicks'])

  const { status, body } = await readiness()
  expect([status, body.ready]).toEqual([200, true])
  expect(body.processes.map(({ role, slot, up, ready }) => [role, slot, up, ready])).toEqual([
    ['worker', 0, true, true],
    ['api', 0, true, true],
    ['redirect', 0, true, true],
    ['redirect', 1, true, true],
    ['redirect', 2, true, true],
  ])
  expect(new Set(body.processes.map(({ pid }) => pid)).size).toBe(5)
  const allowed = await fetch(`${server.ops}/internal/tls-allowed?domain=${workspace.domain}`)
  const refused = await fetch(`${server.ops}/internal/tls-allowed?domain=nobody.example`)
  expect([allowed.status, refused.status]).toEqual([200, 404])
  const names = server.log.map((line) => JSON.parse(line)).filter(({ msg }) => / is up$/.test(msg))
  expect(names.map(({ role, slot }) => `${role} ${slot}`).sort()).toEqual(
    ['api 0', 'redirect 0', 'redirect 1', 'redirect 2', 'worker 0'].sort(),
  )
})

test('kill -9 of the worker and of the api: no redirect fails, both restart, every click is counted', async () => {
  const before = await counted()
  const load = keepOpening()
  await sleep(1_000)
  for (const role of ['worker', 'api']) {
    const pid = await readPid(role)
    process.kill(pid, 'SIGKILL')
    await eventually(async () => expect(logged('process ended, will restart').at(-1)).toMatchObject({ role, pid }))
    expect((await readiness('?role=redirect')).status).toBe(200)
    await eventually(async () => expect(await findProcess(role)).toMatchObject({ up: true, restarts: 1 }), patienceMs)
    expect(await readPid(role)).not.toBe(pid)
  }
  const { answers } = await load.stop()
  expect([...answers.keys()]).toEqual([302])
  await eventually(async () => expect(await counted()).toBe(before + (answers.get(302) ?? 0)), patienceMs)
  expect(logged('process ended, will restart').map(({ role, reason }) => [role, reason])).toEqual([
    ['worker', 'ended by SIGKILL'],
    ['api', 'ended by SIGKILL'],
  ])
})

test('a worker that runs out of memory restarts without ending a redirect; with enough memory, all clicks are counted', async () => {
  await server.stop()
  const before = await countedInDatabase()
  // The worker reads larger batches than fit into its heap.
  server = await startServer({ ...settings, WORKER_HEAP_MEGABYTES: '80', INGEST_BATCH_BYTES: '400000000' })
  const [number] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
  const target = { number: number as bigint, workspaceId: workspace.id, url: link.url }
  const past = pastClicks(clickKeys(platform.config), [target], {
    count: sized({ short: 60_000, full: 120_000 }),
    first: 0,
    from: Date.now() - 30 * 86_400_000,
    to: Date.now() - 60_000,
  })
  const load = keepOpening()
  await sendToLog(platform, workspace.id, past)
  await eventually(async () => expect((await findProcess('worker')).restarts).toBeGreaterThanOrEqual(1), patienceMs)
  expect((await readiness('?role=redirect')).status).toBe(200)
  expect((await readiness('?role=api')).status).toBe(200)
  const { answers } = await load.stop()
  expect([...answers.keys()]).toEqual([302])
  expect(server.log.join('\n')).toContain('heap out of memory')
  expect(new Set(logged('process ended, will restart').map(({ role, reason }) => `${role} ${reason}`))).toEqual(
    new Set(['worker ended by SIGABRT']),
  )
  expect(await server.stop()).toBe(0)
  server = await startServer(settings)
  const expected = before + past.length + (answers.get(302) ?? 0)
  await eventually(async () => expect(await counted()).toBe(expected), patienceMs)
})

test('a redirect killed while its spool is full of clicks: a retry succeeds, and each visitor is counted once', async () => {
  const before = await counted()
  const load = keepOpening()
  await sleep(1_000)
  await engines.processes.nats?.stop()
  await sleep(2_000)
  const pid = (await readiness()).body.processes.find(({ role, slot }) => role === 'redirect' && slot === 1)?.pid
  process.kill(pid as number, 'SIGKILL')
  await sleep(2_000)
  const { answers, failed } = await load.stop()
  const left = (await Promise.all(['clicks', 'clicks-1', 'clicks-2'].map((name) => readdir(join(folder, name))))).flat()
  expect(left.length).toBeGreaterThan(2)
  // Two other redirect processes share the port, so a retry reaches one of them.
  for (const visitor of failed) expect(await open(visitor)).toBe(302)
  await engines.processes.nats?.restart()
  await eventually(async () => {
    const { body } = await readiness()
    expect(body.processes.filter(({ role, up }) => role === 'redirect' && up)).toHaveLength(3)
  }, patienceMs)
  const sent = (answers.get(302) ?? 0) + failed.length
  expect(sent).toBeGreaterThan(perSecond)
  expect(failed.length).toBeLessThan(sent / 3)
  await eventually(async () => expect(await counted()).toBe(before + sent), patienceMs)
  // An incomplete draft in the spool was never acknowledged; the next start removes it.
  for (const name of ['clicks', 'clicks-1', 'clicks-2'])
    expect((await readdir(join(folder, name))).filter((file) => file.endsWith('.json'))).toEqual([])
})

test('kill -9 of the supervisor leaves no process behind, and its ports are free again', async () => {
  const pids = (await readiness()).body.processes.map(({ pid }) => pid as number)
  expect(pids.filter(isAlive)).toHaveLength(5)
  const started = performance.now()
  server.kill('SIGKILL')
  await eventually(async () => expect(pids.filter(isAlive)).toEqual([]), patienceMs)
  expect(performance.now() - started).toBeLessThan(graceMs)
  expect(logged('stopping').map(({ reason }) => reason)).toEqual(Array(5).fill('the supervisor has ended'))
})

test('SIGTERM stops all processes within the grace period, with exit code 0', async () => {
  const pids = (await readiness()).body.processes.map(({ pid }) => pid as number)
  const started = performance.now()
  expect(await server.stop()).toBe(0)
  expect(performance.now() - started).toBeLessThan(graceMs)
  expect(pids.filter(isAlive)).toEqual([])
  expect(server.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
})

/** Visits the link at a constant rate, each time as another visitor, however long responses take. */
function keepOpening(headers: Record<string, string> = {}) {
  const answers = new Map<number, number>()
  const failed: number[] = []
  const running = new Set<Promise<void>>()
  const started = performance.now()
  let count = 0
  const timer = setInterval(() => {
    while (count < ((performance.now() - started) / 1_000) * perSecond) {
      count += 1
      const visitor = visitors++
      const visiting = open(visitor, headers)
        .then(
          (status) => void answers.set(status, (answers.get(status) ?? 0) + 1),
          () => void failed.push(visitor),
        )
        .finally(() => running.delete(visiting))
      running.add(visiting)
    }
  }, 20)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
      if (failed.length > 0) answers.set(0, failed.length)
      return { answers, failed }
    },
  }
}

async function open(visitor: number, headers: Record<string, string> = {}): Promise<number> {
  const own = { host: workspace.domain, 'user-agent': browserName(visitor), ...headers }
  return (await visit(`${server.redirect}/${link.key}`, own)).status
}

function browserName(visitor: number): string {
  return `Mozilla/5.0 (X11; Linux x86_64) Firefox/${visitor}.0`
}

async function readiness(query = ''): Promise<{ status: number; body: SupervisedReadiness }> {
  const response = await fetch(`${server.ops}/readyz${query}`)
  return { status: response.status, body: (await response.json()) as SupervisedReadiness }
}

async function findProcess(role: string) {
  const found = (await readiness()).body.processes.find((one) => one.role === role)
  if (!found) throw new Error(`no ${role}`)
  return found
}

async function readPid(role: string): Promise<number> {
  return (await findProcess(role)).pid as number
}

async function counted(): Promise<number> {
  const links = await createClient({ url: server.api, token: workspace.key })(listLinks)
  return links.reduce((sum, { clicks }) => sum + clicks, 0)
}

async function countedInDatabase(): Promise<number> {
  const { rows } = await sql<{ clicks: bigint }>`
    SELECT coalesce(sum(clicks), 0)::bigint AS clicks FROM link_counters WHERE workspace_id = ${workspace.id}`.execute(
    platform.db,
  )
  return Number(rows[0]?.clicks)
}

function logged(message: string): Record<string, unknown>[] {
  return server.log
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === message)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
