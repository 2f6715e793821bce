import { type JetStreamClient, jetstream, jetstreamManager, type StreamConfig } from '@nats-io/jetstream'
import { connect, type NatsConnection, nanos } from '@nats-io/transport-node'
import { sleep } from './clock.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'

const day = 24 * 60 * 60 * 1000

export const eventStream = (partition: number) => `EVENTS_${partition}`
export const changeStream = 'CHANGES'
export const deadLetterStream = 'DEAD_LETTERS'

/** Keeps trying for ever: known links redirect while NATS is away. */
export async function openNats(config: Config, log: Log): Promise<NatsConnection> {
  const target = natsServers(config.NATS_URL)
  const nats = await connect({
    ...target,
    name: `tributary ${config.ROLES.join('+')}`,
    waitOnFirstConnect: config.ROLES.includes('redirect') && config.ROLES.length === 1,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    timeout: 5_000,
  }).catch((error) => {
    throw new Error(`NATS at ${target.servers.join(', ')}: ${error.message}`, { cause: error.cause ?? error })
  })
  void watch(nats, log)
  return nats
}

export function jetStream(nats: NatsConnection): JetStreamClient {
  return jetstream(nats, { timeout: 5_000 })
}

/** Makes the streams that are missing; an existing one gets its settings. */
export async function ensureStreams(nats: NatsConnection, config: Config): Promise<void> {
  const manager = await jetstreamManager(nats)
  const kept = nanos(config.EVENT_RETENTION_DAYS * day)
  const shared = { num_replicas: config.NATS_REPLICAS, duplicate_window: nanos(2 * 60 * 1000), allow_direct: true }
  const streams: Array<Partial<StreamConfig> & { name: string }> = [
    ...Array.from({ length: config.EVENT_PARTITIONS }, (_, partition) => ({
      name: eventStream(partition),
      subjects: [`events.${partition}.>`],
      max_age: kept,
    })),
    { name: changeStream, subjects: ['changes.>'], max_age: nanos(7 * day) },
    { name: deadLetterStream, subjects: ['dead.>'], max_age: nanos(90 * day) },
  ]
  for (const stream of streams) {
    const exists = await manager.streams.info(stream.name).catch(() => undefined)
    if (exists) await manager.streams.update(stream.name, { ...stream, ...shared })
    else await manager.streams.add({ ...stream, ...shared })
  }
}

/** Sends what is still to be sent; while NATS hangs that would never end. */
export async function closeNats(nats: NatsConnection): Promise<void> {
  const drained = new AbortController()
  const drain = nats
    .drain()
    .catch(() => {})
    .finally(() => drained.abort())
  await Promise.race([drain, sleep(1_000, drained.signal)])
  await nats.close()
}

/** The client itself ignores user, password and `tls:` of an address. A user without a password is a token. */
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
    if (status.type === 'disconnect') log.warn('NATS is away: clicks go to the spool')
    if (status.type === 'reconnect') log.info('NATS is back')
  }
}
