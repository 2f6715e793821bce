import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { type BuiltWorkspace, browser, buildWorkspace } from '../server/test/build.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { startS3Server } from '../server/test/storage/s3-server.ts'
import { visit } from '../server/test/visit.ts'
import { allowLoopback, startReceiver } from '../server/test/webhooks.ts'
import { type Block, readPage } from './docs/blocks.ts'
import { runShell } from './docs/shell.ts'

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const shared = await openTestPlatform()
const folder = await mkdtemp(join(tmpdir(), 'tributary-backup-'))
const engines = await startEngines({ only: ['nats', 'valkey'] })
const receiver = await startReceiver()
const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  await receiver[Symbol.asyncDispose]()
  await engines.stop()
  await rm(folder, { recursive: true, force: true })
})

const environment: Record<string, string> = {
  ...inject('environment'),
  ...engines.urls,
  ...allowLoopback,
  API_URL: 'https://api.example.test',
  TRUSTED_PROXIES: '127.0.0.1',
  SPOOL_DIRECTORY: join(folder, 'spool'),
}
const location = join(folder, 'backup')

type Installation = { env: Record<string, string>; name: string }

test('a backup taken under load restores the same data, with and without the event log', async () => {
  const first = await emptyInstallation()
  const platform = await openTestPlatform(first.env)
  await migrate(platform.config, platform.clickhouse, () => {})
  const server = await start(first)
  const [quiet, busy] = [await buildWorkspace(platform), await buildWorkspace(platform)]
  await platform.db.destroy()
  await fill(server, quiet)
  await post(server, busy, '/links', { url: 'https://example.com/busy', domain: busy.domain, key: 'busy' })
  const before = await readAnswers(server, quiet)

  // Clicks continue during the backup: each click must be in both databases or in neither.
  const load = visitAgainAndAgain(server, busy)
  await eventually(async () => expect(await countClicks(server, busy)).toBeGreaterThan(20))
  const made = await tributary(first, 'backup', location, '--json')
  expect(made, made.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(made.stdout)).toMatchObject({ location, encrypted: false })
  const visits = await load.stop()
  await eventually(async () => expect(await countClicks(server, busy)).toBe(visits))
  expect(await tributary(first, 'backup', location)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already has a backup'),
  })
  const copies = `SELECT name FROM system.tables WHERE name LIKE 'backup_of%' AND database = '${first.name}'`
  expect(await (await shared.clickhouse.query({ query: copies, format: 'JSONEachRow' })).json()).toEqual([])

  const running = await tributary(first, 'restore', location, '--replace')
  expect(running).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Tributary processes are using this database: tributary api/),
  })
  await server.stop()
  const filled = await tributary(first, 'restore', location)
  expect(filled).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^These tables are not empty: .*click_events/),
  })

  // NATS was not lost, so clicks after the backup are ingested again.
  expect(await tributary(first, 'restore', location, '--replace')).toMatchObject({ code: 0 })
  const again = await start(first)
  await eventually(async () => expect(await countClicks(again, busy)).toBe(visits), 60_000)
  expect(await readAnswers(again, quiet)).toEqual(before)
  await expectSound(first)
  await again.stop()

  // Now everything is lost.
  await shared.clickhouse.command({ query: `DROP DATABASE ${first.name} SYNC` })
  await sql`DROP DATABASE ${sql.id(first.name)} WITH (FORCE)`.execute(shared.db)
  const second = await emptyInstallation({ ...(await newLog()) })
  const restored = await tributary(second, 'restore', location, '--json')
  expect(restored).toMatchObject({ code: 0 })
  expect(JSON.parse(restored.stdout)).toMatchObject({ links: 4, migrated: [] })
  await expectSound(second)
  const fresh = await start(second)
  expect(await readAnswers(fresh, quiet)).toEqual(before)
  const clicks = await countClicks(fresh, busy)
  expect(clicks).toBeGreaterThan(20)
  expect(clicks).toBeLessThanOrEqual(visits)

  // The restored server works: it records a click, gives a new link a unique number, and calls the restored webhook.
  const heard = receiver.heard.length
  await visitor(fresh, quiet, 'plain', 250)
  const link = await post(fresh, quiet, '/links', {
    url: 'https://example.com/after',
    domain: quiet.domain,
    key: 'after',
  })
  await eventually(async () => {
    expect(await countClicks(fresh, quiet)).toBe(13)
    expect(receiver.heard.slice(heard).map(({ body }) => JSON.parse(body).event)).toContain('link.created')
  }, 30_000)
  expect(link).toMatchObject({ key: 'after' })
  await expectSound(second)
  await fresh.stop()
}, 240_000)

test('a backup that is damaged, incomplete or encrypted with other keys is rejected, and nothing changes', async () => {
  const target = await emptyInstallation()
  const otherKeys = { ...target, env: { ...target.env, ENCRYPTION_KEYS: `1:${'ab'.repeat(32)}` } }
  expect(await tributary(otherKeys, 'restore', location)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Keys that the backup was made with are not configured: ENCRYPTION_KEYS 1\./),
  })
  const manifest = JSON.parse(await readFile(join(location, 'manifest.json'), 'utf8'))
  const { name } = manifest.tables.find((table: { name: string }) => table.name === 'links').files[0]
  const bytes = await readFile(join(location, name))
  await writeFile(join(location, name), Buffer.concat([bytes, Buffer.of(0)]))
  expect(await tributary(target, 'restore', location)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${name} in ${location} is damaged`),
  })
  await rm(join(location, name))
  expect(await tributary(target, 'restore', location)).toMatchObject({
    stderr: expect.stringContaining(`${name} is missing`),
  })
  await writeFile(join(location, name), bytes)
  expect(await tributary(target, 'restore', join(folder, 'nowhere'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no complete backup'),
  })
  expect(await tributary(target, 'restore', location)).toMatchObject({ code: 0 })
  await expectSound(target)
}, 120_000)

test('every command of the guide works', async () => {
  const storage = await startS3Server(
    { accessKey: 'AKIATEST', secretKey: 'a/secret+key', region: 'us-east-1' },
    'my-bucket',
  )
  closing.push(async () => storage[Symbol.asyncDispose]())
  const settings = {
    BACKUP_S3_ENDPOINT: storage.endpoint,
    BACKUP_S3_ACCESS_KEY: 'AKIATEST',
    BACKUP_S3_SECRET_KEY: 'a/secret+key',
  }
  const page = readPage('guides/backup')
  const here = (blocks: Block[]) =>
    blocks.map((block) => ({ ...block, text: block.text.replaceAll('/var/backups', join(folder, 'guide')) }))
  const upgrading = page.take('sh', 'upgrade-check')
  const [making, restoring, others] = [page.take('sh', 'backup '), page.take('sh', 'restore '), page.take('sh')]
  expect(page.left()).toEqual([])
  const one = await emptyInstallation(settings)
  expect(await tributary(one, 'migrate')).toMatchObject({ code: 0 })
  await runShell(here([...making, ...others, ...upgrading]), { folder, env: one.env })
  const two = await emptyInstallation(settings)
  const output = await runShell(here(restoring), { folder, env: two.env })
  expect(output).toContain('Every click counter is correct')
  expect(await readFile(join(folder, 'settings.env'), 'utf8')).toContain('CLICK_ID_KEYS=***')
}, 120_000)

/** Creates links, clicks of twelve people and a bot, leads, sales, a refund, a called webhook, a password and tags. */
async function fill(server: ServerProcess, workspace: BuiltWorkspace): Promise<void> {
  const { domain } = workspace
  await post(server, workspace, '/webhooks', {
    name: 'all',
    url: receiver.url,
    triggers: ['link.created', 'lead.created'],
  })
  await post(server, workspace, '/tags', { name: 'summer' })
  const url = 'https://example.com/landing?utm_source=mail'
  const words = 'a\ttab, a \\ backslash,\na line and ünïcode'
  await post(server, workspace, '/links', { url, domain, key: 'plain', tagNames: ['summer'], comments: words })
  await post(server, workspace, '/links', { url, domain, key: 'secret', password: 'hush' })
  await post(server, workspace, '/links', { url, domain, key: 'sold', trackConversion: true })
  for (let number = 1; number <= 10; number++) await visitor(server, workspace, 'plain', number)
  await visit(`${server.redirect}/plain`, {
    host: domain,
    'user-agent': 'Googlebot/2.1',
    'x-forwarded-for': '203.0.113.9',
  })
  for (const number of [11, 12]) {
    const clickId = await visitor(server, workspace, 'sold', number)
    const customerExternalId = `customer ${number}`
    await post(server, workspace, '/track/lead', {
      clickId,
      eventName: 'Sign up',
      customerExternalId,
      metadata: { words },
    })
    await post(server, workspace, '/track/sale', { customerExternalId, amount: 1_000, invoiceId: `in_${number}` })
  }
  await post(server, workspace, '/track/refund', { invoiceId: 'in_11', amount: 400 })
  await eventually(async () => {
    const answers = await readAnswers(server, workspace)
    for (const name of ['links', 'days', 'browsers', 'top']) {
      const sums = (answers[name] as Counted[]).reduce(
        ([clicks = 0, leads = 0, amount = 0], row) => [clicks + row.clicks, leads + row.leads, amount + row.saleAmount],
        [0, 0, 0],
      )
      expect(sums, name).toEqual([12, 2, 1_600])
    }
    expect(answers.counts).toMatchObject({ clicks: 12, leads: 2, saleAmount: 1_600 })
    const deliveries = answers.deliveries as { status: string }[]
    expect(deliveries.map(({ status }) => status)).toEqual(Array(5).fill('delivered'))
  }, 60_000)
}

type Counted = { clicks: number; leads: number; saleAmount: number }

/** Returns everything that the API returns about a workspace. */
async function readAnswers(server: ServerProcess, workspace: BuiltWorkspace): Promise<Record<string, unknown>> {
  const paths = {
    links: '/links',
    tags: '/tags',
    domains: '/domains',
    customers: '/customers?includeExpandedFields=true',
    clicks: '/events?event=clicks&interval=all',
    leads: '/events?event=leads&interval=all',
    sales: '/events?event=sales&interval=all',
    tagged: '/events?event=clicks&interval=all&tagNames=summer',
    counts: '/analytics?event=composite&groupBy=count&interval=all',
    days: '/analytics?event=composite&groupBy=timeseries&interval=30d',
    browsers: '/analytics?event=composite&groupBy=browsers&interval=all',
    top: '/analytics?event=composite&groupBy=top_links&interval=all',
    webhooks: '/webhooks',
  }
  const answers: Record<string, unknown> = {}
  for (const [name, path] of Object.entries(paths)) answers[name] = await get(server, workspace, path)
  const [webhook] = answers.webhooks as { id: string }[]
  if (webhook) answers.deliveries = await get(server, workspace, `/webhooks/${webhook.id}/deliveries`)
  return answers
}

async function countClicks(server: ServerProcess, workspace: BuiltWorkspace): Promise<number> {
  const path = '/analytics?event=clicks&groupBy=count&interval=all'
  return ((await get(server, workspace, path)) as { clicks: number }).clicks
}

async function get(server: ServerProcess, workspace: BuiltWorkspace, path: string): Promise<unknown> {
  const response = await fetch(`${server.api}${path}`, { headers: { authorization: `Bearer ${workspace.key}` } })
  const answer = await response.json()
  expect(response.status, `${path}: ${JSON.stringify(answer)}`).toBe(200)
  return answer
}

async function post(server: ServerProcess, workspace: BuiltWorkspace, path: string, body: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' }
  const response = await fetch(`${server.api}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  expect(response.ok, `${path}: ${JSON.stringify(answer)}`).toBe(true)
  return answer
}

/** Visits a link; returns the click id that is passed to the destination. */
async function visitor(server: ServerProcess, workspace: BuiltWorkspace, key: string, number: number): Promise<string> {
  const address = `198.51.${Math.floor(number / 250)}.${number % 250}`
  const headers = { host: workspace.domain, 'user-agent': browser, 'x-forwarded-for': address }
  const answer = await visit(`${server.redirect}/${key}`, headers)
  expect(answer.status).toBe(302)
  return new URL(answer.headers.location ?? '').searchParams.get('trib_id') ?? ''
}

function visitAgainAndAgain(server: ServerProcess, workspace: BuiltWorkspace) {
  let count = 0
  let isOver = false
  const work = (async () => {
    while (!isOver) await visitor(server, workspace, 'busy', ++count)
  })()
  return {
    async stop() {
      isOver = true
      await work
      return count
    },
  }
}

async function expectSound(installation: Installation): Promise<void> {
  const verified = await tributary(installation, 'verify')
  expect(verified, verified.stdout).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Every click counter is correct'),
  })
}

async function emptyInstallation(overrides: Record<string, string> = {}): Promise<Installation> {
  const name = `backup_${randomUUID().replaceAll('-', '')}`
  await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
  const POSTGRES_URL = await createDatabase(environment.POSTGRES_URL as string, name)
  return {
    name,
    env: { ...environment, POSTGRES_URL, CLICKHOUSE_URL: `${environment.CLICKHOUSE_URL}/${name}`, ...overrides },
  }
}

async function newLog(): Promise<Record<string, string>> {
  const started = await startEngines({ only: ['nats'] })
  closing.push(() => started.stop())
  return started.urls
}

async function start({ env }: Installation): Promise<ServerProcess> {
  const server = await startServer(env)
  closing.push(() => server.stop())
  return server
}

async function tributary({ env }: Installation, ...words: string[]) {
  const options = {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'] as const,
    timeout: 100_000,
  }
  const child = spawn(process.execPath, [main, ...words], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}
