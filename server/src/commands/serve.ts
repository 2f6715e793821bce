import { defineCommand } from 'citty'
import { openTlsHosts } from '../features/domains/tls-hosts.ts'
import { type Config, configSummary, readConfig } from '../platform/config.ts'
import { openPlatform } from '../platform/handles.ts'
import { type Log, openLog } from '../platform/log.ts'
import { ensureStreams } from '../platform/nats.ts'
import { startOps } from '../platform/ops.ts'
import { reportProblems } from './run.ts'

const roles = {
  worker: () => import('../roles/worker.ts'),
  api: () => import('../roles/api.ts'),
  redirect: () => import('../roles/redirect.ts'),
}

export const serve = defineCommand({
  meta: { name: 'serve', description: 'Start the roles named in ROLES, until a signal comes' },
  run: () => reportProblems(serveUntilStopped),
})

async function serveUntilStopped(): Promise<void> {
  const stopped = nextSignal()
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL)
  log.info({ settings: configSummary() }, 'Starting')
  await using _serving = await startServing(config, log)
  log.info('Ready')
  const signal = await stopped
  log.info({ signal }, 'Stopping')
}

/** Starts in order, stops in reverse; work under way is finished first. */
export async function startServing(config: Config, log: Log): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack()
  const platform = started.use(await openPlatform(config, log))
  const tlsHosts = started.use(openTlsHosts(platform))
  const mayHaveCertificate = (query: URLSearchParams) => tlsHosts.allows(query.get('domain') ?? '')
  started.use(await startOps(platform, { '/internal/tls-allowed': mayHaveCertificate }))
  await ensureStreams(platform.nats, config)
  for (const role of Object.keys(roles) as (keyof typeof roles)[]) {
    if (!config.ROLES.includes(role)) continue
    const running = started.use(await (await roles[role]()).start(platform))
    const port = 'port' in running ? running.port : undefined
    log.info({ role, port }, `The ${role} is up`)
  }
  return started.move()
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal))
  })
}
