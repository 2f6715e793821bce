import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@tributary/contract/client'
import { createLink, listLinks } from '@tributary/contract/links'
import { type Plan, plans } from '@tributary/contract/operation'
import { ensureBinaries } from '../engines/binaries.ts'
import { freePort } from '../engines/port.ts'
import { startEngines } from '../engines/start.ts'
import { startSupervised } from '../server/src/commands/supervise.ts'
import { addDomain } from '../server/src/features/domains/service.ts'
import { linkNumbers } from '../server/src/features/links/service.ts'
import { createToken } from '../server/src/features/tokens/service.ts'
import { createWorkspace } from '../server/src/features/workspaces/service.ts'
import { readConfig } from '../server/src/platform/config.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { openPlatform } from '../server/src/platform/handles.ts'
import { openLog } from '../server/src/platform/log.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { contextIn } from '../server/test/context.ts'
import { demoLinks } from './demo/links.ts'
import { pastClicks, sendToLog } from './demo/visitors.ts'

const clickCount = 2_000
const days = 30
const domain = 'demo.localhost'

const say = (line: string) => console.error(line)
const askedToStop = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve())
  // npm may die without passing its signal on.
  const parent = process.ppid
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && resolve(), 500).unref()
})

try {
  await demo()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function demo(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  await ensureBinaries(say, process.env)
  say('Starting PostgreSQL, NATS, Valkey and ClickHouse …')
  const engines = await startEngines({ log: say, env: process.env })
  stack.defer(() => engines.stop())
  const spool = await mkdtemp(join(tmpdir(), 'tributary-demo-'))
  stack.defer(() => rm(spool, { recursive: true, force: true }))
  const environment = await demoSettings(engines.urls, spool)
  const config = readConfig(environment)
  const platform = stack.use(await openPlatform(config, openLog('warn')))
  say('Creating tables …')
  await migrate(config, platform.clickhouse, () => {})
  const serving = stack.use(await startSupervised(config, openLog('warn'), { PATH: process.env.PATH, ...environment }))
  await serving.ready
  say('Making a workspace and a key for each plan …')
  const workspaces = await makeWorkspaces(platform)
  await fill(platform, workspaces.business)
  const keys = Object.fromEntries(plans.map((plan) => [plan, workspaces[plan].key]))
  const redirect = `http://127.0.0.1:${config.REDIRECT_PORT}`
  say(
    `Ready. Reference: ${config.API_URL}/docs/reference  A short link: http://${domain}:${config.REDIRECT_PORT}/${demoLinks[0]?.key}`,
  )
  say('It runs until ctrl-c and leaves nothing behind.')
  console.log(JSON.stringify({ api: config.API_URL, redirect, domain, keys }))
  await askedToStop
  say('Stopping …')
}

async function demoSettings(urls: Record<string, string>, spool: string): Promise<Record<string, string>> {
  const [apiPort, redirectPort, opsPort] = await Promise.all([freePort(), freePort(), freePort()])
  return {
    ...urls,
    ENVIRONMENT: 'development',
    LOG_LEVEL: 'warn',
    API_URL: `http://127.0.0.1:${apiPort}`,
    API_PORT: String(apiPort),
    REDIRECT_PORT: String(redirectPort),
    OPS_PORT: String(opsPort),
    CLICK_ID_KEYS: `1:${randomBytes(32).toString('hex')}`,
    ENCRYPTION_KEYS: `1:${randomBytes(32).toString('hex')}`,
    SPOOL_DIRECTORY: spool,
    // A receiver of webhooks that somebody tries out is on the same machine.
    OUTBOUND_ALLOWED_HOSTS: 'localhost,127.0.0.0/8,::1',
    OUTBOUND_ALLOWED_PORTS: '1024-65535',
  }
}

type DemoWorkspace = { id: string; key: string }

async function makeWorkspaces(platform: Platform): Promise<Record<Plan, DemoWorkspace>> {
  const made = plans.map(async (plan) => {
    const workspace = await createWorkspace(platform, { name: `Demo ${plan}`, plan })
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'Demo' })
    return [plan, { id: workspace.id, key }] as const
  })
  return Object.fromEntries(await Promise.all(made)) as Record<Plan, DemoWorkspace>
}

async function fill(platform: Platform, workspace: DemoWorkspace): Promise<void> {
  await addDomain(platform, { workspaceId: workspace.id, slug: domain })
  const call = createClient({ url: platform.config.API_URL, token: workspace.key })
  const links = []
  for (const link of demoLinks) {
    const { id, url } = await call(createLink, { body: { ...link, domain } })
    const [number] = await linkNumbers(contextIn(platform, workspace.id), { ids: [id] })
    links.push({ number: number as bigint, workspaceId: workspace.id, url })
  }
  say(`Sending ${clickCount} clicks of the last ${days} days through the log …`)
  await sendToLog(
    platform,
    workspace.id,
    pastClicks(platform.config.CLICK_ID_KEYS, links, clickCount, days, Date.now()),
  )
  for (let stored = 0; stored < clickCount; ) {
    await new Promise((resolve) => setTimeout(resolve, 250))
    stored = (await call(listLinks, { query: {} })).reduce((sum, link) => sum + link.clicks, 0)
    say(`  ${stored} of ${clickCount} stored and counted`)
  }
}
