import { execFile } from 'node:child_process'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { allowLoopback } from '../server/test/webhooks.ts'
import { openHostile, startSlowReceiver } from './hostile/hostile.ts'
import { type Call, startHonest, summarize } from './hostile/measure.ts'
import { readProcesses, watchMemory } from './hostile/watch.ts'

/** The full load with `npm run test:fat`; in CI a twentieth of it. */
const isFull = process.env.HOSTILE === 'full'
const size = isFull
  ? { leads: 2_000, links: 2_000, webhooks: 100, pages: 200, bodyStep: 1 }
  : { leads: 100, links: 100, webhooks: 10, pages: 20, bodyStep: 4 }
const mostMilliseconds = 500
/** The `mem_limit` of the server in compose.yaml, in megabytes. */
const mostMegabytes = 900
const run = promisify(execFile)
const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))

test('a workspace that sends the largest valid requests breaks no process and slows no other workspace', async () => {
  await using parts = new AsyncDisposableStack()
  const engines = await startEngines({ only: ['nats', 'valkey', 'clickhouse'] })
  parts.defer(() => engines.stop())
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `hostile_${Date.now()}`)
  const environment = { ...inject('environment'), ...engines.urls, ...allowLoopback, POSTGRES_URL: database }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const server = await startServer({ ...environment, ROLES: 'api,redirect,worker' })
  parts.defer(async () => void (await server.stop()))
  const receiver = parts.use(await startSlowReceiver())
  const processes = await readProcesses(server.ops)
  expect(processes.map(({ role }) => role).sort()).toEqual(['api', 'redirect', 'worker'])
  const loadBefore = readLoad()
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace, { trackConversion: true })
  const { key, domain } = workspace
  using honest = startHonest({ api: server.api, redirect: server.redirect, key, domain, link })
  const hostile = await openHostile(platform, server, receiver.url, size)
  using memory = watchMemory([...processes, { role: 'supervisor', pid: server.pid }])

  // Excludes the first calls, which open connections and fill caches.
  await pause(3_000)
  await honest.report()
  await pause(5_000)
  const alone = summarize((await honest.report()).calls)
  const beside: Call[] = []
  for (const [name, step] of Object.entries(hostile.steps)) {
    const started = performance.now()
    await step()
    const { calls } = await honest.report()
    beside.push(...calls)
    const { p50, p99, kinds } = summarize(calls)
    console.info(name, `${Math.round((performance.now() - started) / 1_000)} s`, {
      p50,
      p99,
      calls: calls.length,
      ...kinds,
    })
  }
  const { calls, visits, leads } = await honest.stop()
  beside.push(...calls)
  const { failed, ...figures } = summarize(beside)
  const statuses = Object.fromEntries(hostile.statuses)
  // The load average before the test shows other work on this machine.
  console.info({ alone, beside: figures, memory: memory.highest(), statuses, loadBefore, load: readLoad() })

  const errors = server.log.filter((line) => line.includes('"level":"error"')).slice(0, 5)
  expect({ refused: hostile.failures, errors, failed }).toEqual({ refused: [], errors: [], failed: [] })
  expect(await readProcesses(server.ops)).toEqual(
    processes.map(({ role, pid }) => expect.objectContaining({ role, pid, restarts: 0 })),
  )
  expect(memory.highest().total).toBeLessThan(mostMegabytes)
  // A CI machine of two cores also runs the databases and both clients, so its limit is relative to the latency alone.
  const most = isFull ? mostMilliseconds : Math.max(mostMilliseconds, 5 * alone.p99)
  expect(figures.p99, `alone it was ${alone.p99}`).toBeLessThanOrEqual(most)

  await eventually(async () => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${server.api}/links/info?linkId=${link.id}`, { headers })
    expect(await response.json()).toMatchObject({ clicks: visits, leads })
  }, 120_000)
  // `tributary verify` exits with code 1 on any difference.
  const env = { PATH: process.env.PATH, ...environment }
  const verified = await run(process.execPath, [main, 'verify', '--workspace', workspace.id], { env })
  console.info(verified.stdout.trim())
}, 1_800_000)

function readLoad(): string {
  return `${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
