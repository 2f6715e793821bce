import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream'
import { connect, createInbox, headers, type Msg, type NatsConnection, nanos } from '@nats-io/transport-node'
import { sleep } from './clock.ts'
import { type Config, servesVisitorsOnly } from './config.ts'
import type { Log } from './log.ts'
import { refuseInTransaction } from './postgres.ts'

const day = 24 * 60 * 60 * 1000

export const eventStream = (partition: number) => `EVENTS_${partition}`
export const changeStream = 'CHANGES'
export const deadLetterStream = 'DEAD_LETTERS'
/** The stream with the newest mark (incarnation.ts) of each PostgreSQL database. */
export const databaseStream = 'DATABASE'

// A redirect starts without NATS after this time.
const firstConnectMs = 2_000

/** Connects to NATS and reconnects forever: while NATS is down, redirects continue, also those that start. */
export async function openNats(config: Config, log: Log): Promise<NatsConnection> {
  const target = natsServers(config.NATS_URL)
  const servesVisitors = servesVisitorsOnly(config)
  const connecting = connect({
    ...target,
    name: `tributary ${config.ROLES.join('+')}`,
    waitOnFirstConnect: servesVisitors,
    // Otherwise a redirect would never reconnect to a NATS that has refused it twice, for example before its accounts were loaded.
    ignoreAuthErrorAbort: servesVisitors,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    timeout: 5_000,
    // A server without power closes no connection. The default notices that after minutes.
    pingInterval: 5_000,
    maxPingOut: 2,
  }).catch((error) => {
    throw new Error(`NATS at ${target.servers.join(', ')}: ${error.message}`, { cause: error.cause ?? error })
  })
  const nats = servesVisitors ? await connectLater(connecting, log) : await connecting
  void watch(nats, log)
  return nats
}

/** Returns the connection, or after `firstConnectMs` one that is unreachable until NATS answers. */
async function connectLater(connecting: Promise<NatsConnection>, log: Log): Promise<NatsConnection> {
  const connected = new AbortController()
  try {
    const first = await Promise.race([connecting, sleep(firstConnectMs, connected.signal)])
    return first ?? openPending(connecting, log)
  } finally {
    connected.abort()
  }
}

/**
 * A connection that rejects what is published, so that clicks go to the spool, and begins its subscriptions when NATS
 * answers. From then on it is the real connection.
 */
function openPending(connecting: Promise<NatsConnection>, log: Log): NatsConnection {
  let real: NatsConnection | undefined
  let isClosed = false
  const connected = connecting.then(async (nats) => {
    real = nats
    if (isClosed) await nats.close()
    return nats
  })
  connected.catch((error: Error) => log.error({ error: error.message }, 'NATS refuses this process'))
  const refuse = async () => Promise.reject(new Error('NATS is unreachable'))
  const close = async () => {
    isClosed = true
  }
  const pending = {
    options: {},
    isClosed: () => isClosed,
    drain: close,
    close,
    flush: refuse,
    request: refuse,
    publish() {
      throw new Error('NATS is unreachable')
    },
    subscribe(...subscribed: Parameters<NatsConnection['subscribe']>) {
      let isOver = false
      const begun = connected.then((nats) => (isOver ? undefined : nats.subscribe(...subscribed)))
      begun.catch(() => {})
      return {
        unsubscribe() {
          isOver = true
          begun.then((subscription) => subscription?.unsubscribe()).catch(() => {})
        },
      }
    },
    async *status() {
      yield { type: 'disconnect' }
      const nats = await connected.catch(() => undefined)
      if (!nats) return
      yield { type: 'reconnect' }
      yield* nats.status()
    },
  }
  return new Proxy(pending, {
    get(_, name) {
      const current = real ?? pending
      const value = Reflect.get(current, name)
      return typeof value === 'function' ? value.bind(current) : value
    },
  }) as unknown as NatsConnection
}

/** Waits until NATS answers, or the connection is closed. */
export async function untilReachable(nats: NatsConnection): Promise<void> {
  while (!nats.isClosed()) {
    const isReachable = await nats.flush().then(
      () => true,
      () => false,
    )
    if (isReachable) return
    await sleep(1_000)
  }
}

export function jetStream(nats: NatsConnection): JetStreamClient {
  refuseInTransaction('JetStream')
  return jetstream(nats, { timeout: 5_000 })
}

export type Publisher = Disposable & {
  /** Resolves when NATS has stored the message. NATS drops repeated ids within two minutes. */
  publish(message: { subject: string; id: string; body: string | Uint8Array; traceparent?: string }): Promise<void>
}

/**
 * Publishes to JetStream on the hot path: one inbox receives all acknowledgements, and one timer checks all deadlines.
 * JetStream's own `publish` creates a subscription, a timer and error objects per message, which is several times slower.
 */
export function openPublisher(nats: NatsConnection, deadlineMs: number): Publisher {
  type Waiting = { resolve(): void; reject(error: Error): void; until: number }
  const inbox = createInbox()
  const waiting = new Map<string, Waiting>()
  let count = 0
  let isDisconnected = false

  function reportState(name: string, problem: string | undefined): void {
    const waiter = waiting.get(name)
    if (!waiter) return
    waiting.delete(name)
    if (problem === undefined) waiter.resolve()
    else waiter.reject(new Error(problem))
  }

  const answers = nats.subscribe(`${inbox}.*`, {
    callback: (error, message) => reportState(message.subject, error ? error.message : refusalIn(message)),
  })
  // After a disconnect, pending messages fail at once; a retry has the same id, so NATS drops duplicates.
  async function follow(): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === 'reconnect') isDisconnected = false
      if (type !== 'disconnect') continue
      isDisconnected = true
      for (const name of [...waiting.keys()]) reportState(name, 'NATS is unreachable')
    }
  }

  void follow()
  const watching = setInterval(() => {
    const now = performance.now()
    for (const [name, { until }] of waiting) {
      if (until > now) break
      reportState(name, `no response in ${deadlineMs} ms`)
    }
  }, 20)
  watching.unref()

  return {
    publish({ subject, id, body, traceparent }) {
      if (isDisconnected) return Promise.reject(new Error('NATS is unreachable'))
      return new Promise((resolve, reject) => {
        const reply = `${inbox}.${count++}`
        const about = headers()
        about.set('Nats-Msg-Id', id)
        if (traceparent) about.set('traceparent', traceparent)
        nats.publish(subject, body, { reply, headers: about })
        waiting.set(reply, { resolve, reject, until: performance.now() + deadlineMs })
      })
    },
    [Symbol.dispose]() {
      clearInterval(watching)
      if (!nats.isClosed()) answers.unsubscribe()
      for (const name of [...waiting.keys()]) reportState(name, 'the process is stopping')
    },
  }
}

function refusalIn(message: Msg): string | undefined {
  if (message.headers?.code === 503) return 'no stream stores this subject'
  const answer = message.json<{ error?: { description?: string } }>()
  return answer.error && (answer.error.description ?? 'refused')
}

const mebibyte = 1_048_576
const leastMegabytes = 16
const storeTooSmall = 10_047
// Stream of releases before 0.2; CHANGES now has its share of the storage.
const obsoleteStream = 'WEBHOOKS'

/**
 * Creates missing streams and updates existing ones. Each stream has its own part of EVENT_LOG_MAX_MEGABYTES, so that
 * one can't fill the storage of another; if NATS has less storage, all streams shrink.
 */
export async function ensureStreams(
  nats: NatsConnection,
  config: Config,
  warn: (text: string) => void = () => {},
): Promise<void> {
  const manager = await jetstreamManager(nats)
  await manager.streams.delete(obsoleteStream).catch(() => {})
  for (let megabytes = config.EVENT_LOG_MAX_MEGABYTES; ; megabytes = Math.floor(megabytes / 2)) {
    try {
      for (const stream of streamConfigs(config, megabytes)) await patiently(() => ensureStream(manager, stream))
      return
    } catch (error) {
      if (!isTooSmall(error) || megabytes <= leastMegabytes) throw error
      warn(`NATS has no room for EVENT_LOG_MAX_MEGABYTES=${megabytes}: raise its max_file_store or lower the setting`)
    }
  }
}

type NamedStream = Partial<StreamConfig> & { name: string }

function streamConfigs(config: Config, megabytes: number): NamedStream[] {
  const share = (part: number) => Math.floor(megabytes * mebibyte * part)
  // A full stream rejects new messages instead of discarding unread ones; publishers keep them in the spool or outbox.
  const wall = (bytes: number) => ({ max_bytes: bytes, discard: DiscardPolicy.New })
  const streams: NamedStream[] = [
    ...Array.from({ length: config.EVENT_PARTITIONS }, (_, partition) => ({
      name: eventStream(partition),
      subjects: [`events.${partition}.>`],
      max_age: nanos(config.EVENT_RETENTION_DAYS * day),
      ...wall(share(27 / 32 / config.EVENT_PARTITIONS)),
    })),
    { name: changeStream, subjects: ['changes.>'], max_age: nanos(7 * day), ...wall(share(4 / 32)) },
    // Discards the oldest dead letters, because rejecting a new one would block the worker.
    {
      name: deadLetterStream,
      subjects: ['dead.>'],
      max_age: nanos(90 * day),
      max_bytes: share(1 / 64),
      discard: DiscardPolicy.Old,
    },
    {
      name: databaseStream,
      subjects: ['database.>'],
      max_msgs_per_subject: 1,
      max_bytes: share(1 / 64),
      discard: DiscardPolicy.Old,
    },
  ]
  const shared = { num_replicas: config.NATS_REPLICAS, duplicate_window: nanos(2 * 60 * 1000), allow_direct: true }
  return streams.map((stream) => ({ ...stream, ...shared }))
}

async function ensureStream(manager: JetStreamManager, stream: NamedStream): Promise<void> {
  const existing = await manager.streams.info(stream.name).catch(() => undefined)
  if (!existing) await manager.streams.add(stream)
  // Updates only on a difference, because an update writes to NATS's disk, which may be full.
  else if (!hasConfig(existing.config, stream)) await manager.streams.update(stream.name, stream)
}

function hasConfig(config: StreamConfig, stream: NamedStream): boolean {
  const current = config as Record<string, unknown>
  return Object.entries(stream).every(([name, value]) => JSON.stringify(current[name]) === JSON.stringify(value))
}

function isTooSmall(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === storeTooSmall
}

/** Retries, because a new NATS cluster elects leaders while several processes create the same streams. */
async function patiently(work: () => Promise<unknown>, attempts = 4): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work()
      return
    } catch (error) {
      if (attempt === attempts || isTooSmall(error)) throw error
      await sleep(500 * attempt)
    }
  }
}

/** Flushes pending messages, for at most a second because NATS may hang, then closes the connection. */
export async function closeNats(nats: NatsConnection): Promise<void> {
  const drained = new AbortController()
  const drain = nats
    .drain()
    .catch(() => {})
    .finally(() => drained.abort())
  await Promise.race([drain, sleep(1_000, drained.signal)])
  await nats.close()
}

/** Parses NATS_URL, because the client ignores user, password and `tls:` of a URL. A user without a password is a token. */
export function natsServers(urls: string) {
  const addresses = urls.split(',').map((url) => new URL(url.trim()))
  const [user = '', pass = ''] = [addresses[0]?.username, addresses[0]?.password].map((part) =>
    decodeURIComponent(part ?? ''),
  )
  return {
    servers: addresses.map((address) => address.host),
    ...(addresses.some((address) => address.protocol === 'tls:') && { tls: {} }),
    ...(pass ? { user, pass } : user ? { token: user } : {}),
  }
}

async function watch(nats: NatsConnection, log: Log): Promise<void> {
  for await (const status of nats.status()) {
    if (status.type === 'disconnect') log.warn('NATS is unreachable, publishing waits until it reconnects')
    if (status.type === 'reconnect') log.info('NATS reconnected')
  }
}
