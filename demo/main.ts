import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plans } from '@tributary/contract/operation'
import { ensureBinaries } from '../engines/binaries.ts'
import { freePort } from '../engines/port.ts'
import { startEngines } from '../engines/start.ts'
import { startSupervised } from '../server/src/commands/supervise.ts'
import { readConfig } from '../server/src/platform/config.ts'
import { openPlatform } from '../server/src/platform/handles.ts'
import { openLog } from '../server/src/platform/log.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { ensureDashboard } from './dashboard.ts'
import { ensureDocs } from './docs.ts'
import { demoLinks } from './links.ts'
import { makeAppLink } from './person.ts'
import { fillProgram } from './program.ts'
import { fillWorkspace, makeWorkspaces, sampleClicks, sampleDomain } from './sample.ts'
import { localSettings, newSecrets } from './settings.ts'
import { stopSignal } from './stop-signal.ts'

const say = (line: string) => console.error(line)
const stopped = stopSignal()

try {
  await demo()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function demo(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  await ensureBinaries(say, process.env)
  const docs = ensureDocs(say)
  const dashboard = docs.then(() => ensureDashboard(say))
  say('Starting PostgreSQL, NATS, Valkey and ClickHouse …')
  const engines = await startEngines({ log: say, env: process.env })
  stack.defer(() => engines.stop())
  const spool = await mkdtemp(join(tmpdir(), 'tributary-demo-'))
  stack.defer(() => rm(spool, { recursive: true, force: true }))
  const ports = { api: await freePort(), redirect: await freePort(), ops: await freePort() }
  const environment = { ...localSettings(engines.urls, ports, spool), ...newSecrets() }
  const config = readConfig(environment)
  const platform = stack.use(await openPlatform(config, openLog('warn')))
  say('Creating tables …')
  await migrate(config, platform.clickhouse, () => {})
  // The server looks for the documentation when it starts.
  await docs
  const serving = stack.use(await startSupervised(config, openLog('warn'), { PATH: process.env.PATH, ...environment }))
  await serving.ready
  say('Creating a workspace and a key for each plan …')
  const workspaces = await makeWorkspaces(platform)
  say('Creating a partner program with eight partners …')
  await Promise.all([
    fillWorkspace(platform, workspaces.business, { count: sampleClicks, sentBefore: 0 }, say),
    fillProgram(platform, workspaces.business, sampleDomain),
  ])
  await dashboard
  const app = await makeAppLink(platform, workspaces)
  const keys = Object.fromEntries(plans.map((plan) => [plan, workspaces[plan].key]))
  const redirect = `http://127.0.0.1:${config.REDIRECT_PORT}`
  say(`Ready.
  Dashboard:      ${app}
                  Signs you in, once and within an hour. Then: ${config.API_URL}/app
  Documentation:  ${config.API_URL}/docs
  API reference:  ${config.API_URL}/docs/reference
  A short link:   http://${sampleDomain}:${config.REDIRECT_PORT}/${demoLinks[0]?.key}
Press ctrl-c to stop it and delete its data. The same for programs, with API keys:`)
  console.log(JSON.stringify({ api: config.API_URL, redirect, domain: sampleDomain, app, keys }))
  await stopped
  say('Stopping …')
}
