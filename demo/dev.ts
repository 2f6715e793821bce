import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBinaries } from '../engines/binaries.ts'
import { engineNames } from '../engines/engine-process.ts'
import { canListen } from '../engines/port.ts'
import { startEngines, urlName } from '../engines/start.ts'
import { settings as knownSettings } from '../server/src/platform/settings.ts'
import { claimFolder, folder, readSample, readSettings, writeSettings } from './installation.ts'
import { demoLinks } from './links.ts'
import { openRoles, type Roles } from './roles.ts'
import { localSettings, newSecrets, type Settings } from './settings.ts'
import { stopSignal } from './stop-signal.ts'
import { type Changes, watchFolders } from './watch.ts'

const watched = ['server/src', 'server/migrations', 'contract/src', 'tracker/src']
const defaultPort = 3000
// Names of the ports, in order from `--port`.
const portNames = {
  api: 'API',
  redirect: 'redirect',
  ops: 'operator',
  postgres: 'PostgreSQL',
  nats: 'NATS',
  valkey: 'Valkey',
  clickhouse: 'ClickHouse',
} as const
const portCount = Object.keys(portNames).length
type Ports = Record<keyof typeof portNames, number>

const say = (line: string) => console.error(line)
const stopped = stopSignal()
process.chdir(join(import.meta.dirname, '..'))

try {
  await dev()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
process.exit()

async function dev(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const firstPort = readFirstPort()
  stack.use(await claimFolder())
  const ports = await requireFreePorts(firstPort)
  await ensureBinaries(say, process.env)
  say(`Starting PostgreSQL, NATS, Valkey and ClickHouse with the data in ${folder}/engines …`)
  const engines = await startEngines({
    directory: join(folder, 'engines'),
    ports,
    env: process.env,
  })
  stack.defer(() => engines.stop())
  const settings = {
    ...newSecrets(),
    ...(await readSettings()),
    ...localSettings(engines.urls, ports, join(folder, 'spool')),
    // Short, so that a restart does not wait for open event streams.
    SHUTDOWN_GRACE_MS: '300',
    ...settingsFrom(process.env),
  }
  await writeSettings(settings)
  // Watches files before the roles start, so that no change is missed.
  const changes = stack.use(watchFolders(watched, (file) => /\.(ts|sql)$/.test(file) && !file.endsWith('.test.ts')))
  const environment = { PATH: process.env.PATH, ...settings, NODE_COMPILE_CACHE: join(folder, 'compile-cache') }
  const roles = stack.use(openRoles(environment, (reason) => say(`The server process ended (${reason}). ${waiting}`)))
  await Promise.race([stopped, restartOnChange(roles, changes, settings)])
  say('Stopping …')
}

const waiting = 'Change a file to restart it.'

async function restartOnChange(roles: Roles, changes: Changes, settings: Settings): Promise<never> {
  say('Starting all roles …')
  for (let isFirst = true, files: string[] = []; ; files = await changes.next()) {
    const startedAt = performance.now()
    // The server serves the built tracker from dist/.
    if (files.some((file) => file.startsWith('tracker/'))) await run('tracker/build.ts')
    const migrates = isFirst || files.some((file) => file.startsWith('server/migrations/'))
    const outcome = await roles.replace(migrates)
    if (outcome === 'does not load') {
      say(`The server does not load, see the error above. ${isFirst ? waiting : 'The previous version still runs.'}`)
    } else if (outcome === 'does not start') {
      say(`The server does not start, see the error above. ${waiting}`)
    } else if (isFirst) {
      if (!(await readSample())) await run('demo/seed.ts')
      console.log(await describe(settings))
      isFirst = false
    } else {
      say(`Restarted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${shorten(files)}`)
    }
  }
}

async function describe(settings: Settings): Promise<string> {
  const { API_URL, REDIRECT_PORT } = settings
  const key = (await readSample())?.workspaces.business.key ?? 'none, run `npm run seed`'
  const addresses = engineNames.map((name) => new URL(settings[urlName(name)] ?? ''))
  const ports = engineNames.map((name, index) => `${name} ${addresses[index]?.host}`)
  return [
    `Ready. API: ${API_URL}`,
    `key: ${key}`,
    `documentation: ${API_URL}/docs/reference`,
    `short link: http://demo.localhost:${REDIRECT_PORT}/${demoLinks[0]?.key}`,
    `engines: ${ports.join(', ')}`,
  ].join('  ')
}

function readFirstPort(): number {
  const { values } = parseArgs({ options: { port: { type: 'string', default: String(defaultPort) } } })
  const port = Number(values.port)
  const last = 65_535 - portCount + 1
  if (Number.isInteger(port) && port >= 1024 && port <= last) return port
  throw new Error(
    `--port is ${JSON.stringify(values.port)}: it must be the first of ${portCount} ports, from 1024 to ${last}.`,
  )
}

async function requireFreePorts(firstPort: number): Promise<Ports> {
  const ports = Object.entries(portNames).map(([name, label], index) => ({ name, label, port: firstPort + index }))
  const free = await Promise.all(ports.map(({ port }) => canListen(port)))
  const taken = ports.filter((_, index) => !free[index]).map(({ label, port }) => `${port} (${label})`)
  if (taken.length === 0) return Object.fromEntries(ports.map(({ name, port }) => [name, port])) as Ports
  throw new Error(
    `Another program listens on ${taken.join(' and ')}. Stop it, or choose the first of ${portCount} other ports: npm run dev -- --port ${firstPort + 1000}`,
  )
}

/** Environment variables of the shell override these settings, as in `LOG_LEVEL=debug npm run dev`. */
function settingsFrom(environment: NodeJS.ProcessEnv): Settings {
  const names = Object.keys(knownSettings).filter((name) => environment[name])
  return Object.fromEntries(names.map((name) => [name, environment[name] as string]))
}

async function run(program: string): Promise<void> {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'ignore', 'inherit'] })
  void stopped.then(() => child.kill())
  const [code] = await once(child, 'exit')
  if (code !== 0) say(`${program} exited with code ${code}, see the error above.`)
}

function shorten(files: string[]): string {
  const [first, ...others] = files
  return others.length > 0 ? `${first} and ${others.length} more changed` : `${first} changed`
}
