import { openTlsHosts, type TlsHosts } from '../features/domains/tls-hosts.ts'
import { startBeat } from '../features/operator/beat.ts'
import { type Channel, openChannel } from '../platform/channel.ts'
import { sleep } from '../platform/clock.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import type { Platform } from '../platform/context.ts'
import { requireSupportedEngines } from '../platform/engine-versions.ts'
import { openPlatform } from '../platform/handles.ts'
import { figures, readiness } from '../platform/health.ts'
import type { Log } from '../platform/log.ts'
import { ensureStreams, untilReachable } from '../platform/nats.ts'
import { type Report, reportProcess, startOps } from '../platform/ops.ts'

const roles = {
  worker: () => import('../roles/worker.ts'),
  api: () => import('../roles/api.ts'),
  redirect: () => import('../roles/redirect.ts'),
}
type Handles = { platform: Platform; tlsHosts: TlsHosts }

const exitMarginMs = 5_000
const retryStreamsMs = 10_000

export type RunningRole = AsyncDisposable & {
  /** Serves for SHUTDOWN_DRAIN_MS more, while health checks fail and connections end after their response. */
  drain(): Promise<void>
}

/** Runs one role in this process, without a supervisor, and serves health and metrics on OPS_PORT. */
export async function startRole(config: Config, log: Log): Promise<RunningRole> {
  const stopping = new AbortController()
  await using started = new AsyncDisposableStack()
  const platform = started.use(await openRolePlatform(config, log, 0))
  await requireSupportedEngines(platform)
  const tlsHosts = started.use(openTlsHosts({ ...platform, db: platform.lookups }))
  const isAllowed = (query: URLSearchParams) => tlsHosts.allows(query.get('domain') ?? '')
  let isStarting = true
  const report: Report = {
    ...reportProcess(platform, stopping.signal),
    readiness: async () => (isStarting ? { ready: false, status: 'starting' } : readiness(platform)),
  }
  started.use(await startOps(platform, report, { '/internal/tls-allowed': isAllowed }))
  await prepareStreams(platform, () => ensureStreams(platform.nats, config, (text) => log.warn(text)))
  started.use(await startWork(platform, stopping.signal))
  isStarting = false
  const running = started.move()
  return { drain: () => drain(config, stopping), [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
}

/** Runs one role in a child process of the supervisor, which collects its health. Stops when the supervisor ends. */
export async function runSupervised(config: Config, log: Log, slot: number, signal: Promise<string>): Promise<void> {
  if (!process.channel) throw new ConfigError('--slot is only for child processes of `tributary serve`. Remove it.')
  const { promise: opened, resolve } = Promise.withResolvers<Handles>()
  const stopping = new AbortController()
  const channel = openChannel(process, {
    ping: () => 'pong',
    readiness: async () => readiness((await opened).platform),
    figures: async () => figures((await opened).platform),
    'tls-allowed': async (host) => (await opened).tlsHosts.allows(String(host)),
  })
  const stopped = Promise.race([signal, channel.closed.then(() => 'the supervisor has ended')])
  try {
    await using started = new AsyncDisposableStack()
    // Stop signals end the startup too, which may wait very long for NATS.
    await Promise.race([start(started), stopped])
    const reason = await stopped
    log.info({ reason }, 'stopping')
    await drain(config, stopping)
    // Exit even if the shutdown hangs: when the supervisor has ended, nobody else kills this process.
    setTimeout(() => process.exit(1), config.SHUTDOWN_GRACE_MS + exitMarginMs).unref()
  } finally {
    channel.close()
  }

  async function start(started: AsyncDisposableStack): Promise<void> {
    const platform = started.use(await openRolePlatform(config, log, slot))
    await requireSupportedEngines(platform)
    resolve({ platform, tlsHosts: started.use(openTlsHosts({ ...platform, db: platform.lookups })) })
    await prepareStreams(platform, () => createInTurn(platform, channel))
    started.use(await startWork(platform, stopping.signal))
    await channel.ask('up')
  }
}

/** A worker has no clients that must find another one. */
async function drain({ ROLES, SHUTDOWN_DRAIN_MS }: Config, stopping: AbortController): Promise<void> {
  stopping.abort()
  if (ROLES.some((role) => role !== 'worker')) await sleep(SHUTDOWN_DRAIN_MS)
}

async function openRolePlatform(config: Config, log: Log, slot: number): Promise<Platform & AsyncDisposable> {
  const platform = await openPlatform(config, log)
  platform.metrics.registry.setDefaultLabels({ role: config.ROLES.join('+'), slot: String(slot) })
  return platform
}

/** A redirect does not wait for NATS and its streams: without them, its clicks go to the spool. */
async function prepareStreams({ config, log, nats }: Platform, create: () => Promise<void>): Promise<void> {
  if (!config.ROLES.includes('redirect')) return create()
  const retry = async (): Promise<void> => {
    await untilReachable(nats)
    if (nats.isClosed()) return
    await create().catch(async (error) => {
      log.warn({ error: (error as Error).message }, 'could not create NATS streams, will retry')
      await sleep(retryStreamsMs)
      await retry()
    })
  }
  void retry()
}

/** Creates the streams in one process at a time, to avoid races. */
async function createInTurn({ nats, config, log }: Platform, channel: Channel): Promise<void> {
  if (!(await channel.ask('streams-turn'))) return
  try {
    await ensureStreams(nats, config, (text) => log.warn(text))
  } catch (error) {
    await channel.ask('streams-failed')
    throw error
  }
  await channel.ask('streams-done')
}

async function startWork(platform: Platform, stopping: AbortSignal): Promise<AsyncDisposable> {
  const { config, log } = platform
  await using started = new AsyncDisposableStack()
  for (const role of config.ROLES) {
    const running = started.use(await (await roles[role]()).start(platform, stopping))
    const port = 'port' in running ? running.port : undefined
    log.info({ port }, `The ${role} is up`)
  }
  started.use(startBeat(platform))
  return started.move()
}
