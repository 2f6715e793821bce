import { defineCommand } from 'citty'
import { configSummary, readConfig } from '../platform/config.ts'
import { openPlatform } from '../platform/handles.ts'
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

/** Starts in order, stops in reverse; work under way is finished first. */
async function serveUntilStopped(): Promise<void> {
  const stopped = nextSignal()
  const config = readConfig()
  await using platform = await openPlatform(config)
  const { log } = platform
  log.info({ settings: configSummary() }, 'Starting')
  await using _ops = await startOps(platform)
  await ensureStreams(platform.nats, config)
  await using started = new AsyncDisposableStack()
  for (const role of Object.keys(roles) as (keyof typeof roles)[]) {
    if (!config.ROLES.includes(role)) continue
    const running = started.use(await (await roles[role]()).start(platform))
    const port = 'port' in running ? running.port : undefined
    log.info({ role, port }, `The ${role} is up`)
  }
  log.info('Ready')
  const signal = await stopped
  log.info({ signal }, 'Stopping')
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal))
  })
}
