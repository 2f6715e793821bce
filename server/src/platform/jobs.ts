import { AckPolicy, type ConsumerMessages, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { z } from 'zod'
import { batches, paceBatches } from './batches.ts'
import { sleep } from './clock.ts'
import type { Platform } from './context.ts'
import { pruneHandledEvents } from './handled-events.ts'
import { changeStream, deadLetterStream, jetStream } from './nats.ts'
import { judgeFailure } from './refusal.ts'
import { startInterval } from './schedule.ts'
import { traced } from './tracing.ts'

type JobInput<T> = {
  /** Name of the job and of its durable NATS consumer. */
  name: string
  subject: string
  /** Maximum messages per batch. */
  atOnce?: number
  /** Maximum messages in progress and waiting for a retry; NATS delivers no others until one is done. By default four batches. */
  mostPending?: number
  /** Attempts for a message before it becomes a dead letter; see `defaultAttempts`. */
  attempts?: number
  /** Minimum time between two batches, to limit the number of inserts. */
  intervalMs?: number
  schema: z.ZodType<T>
  /** Handles a batch. Must be idempotent: NATS redelivers messages when the process dies before acknowledging them. */
  handle(platform: Platform, bodies: T[]): Promise<void>
}
export type Job = JobInput<unknown>

const mostAtOnce = 500
const shortestIntervalMs = 100
// Maximum bytes of messages in memory; one NATS message has at most a million.
const mostBytes = 8 * 1024 * 1024
const measureIntervalMs = 5_000
const pruneIntervalMs = 600_000
// Interval for extending the acknowledgement deadline; NATS redelivers a message after half a minute without it.
const extendIntervalMs = 10_000
// Attempts span about eight hours, a minute apart, so that a database outage exhausts no message's retries.
const defaultAttempts = 500
// Attempts for a message whose data the database rejects: further ones would fail too.
const refusedAttempts = 5

export function job<T>(input: JobInput<T>): Job {
  return input as unknown as Job
}

/** Runs every job until disposed; disposing waits for the batches in progress. */
export async function startJobs(platform: Platform, jobs: Job[]): Promise<AsyncDisposable> {
  const stopping = new AbortController()
  const running = jobs.map((job) => run(platform, job, stopping.signal))
  const upkeep = [
    startInterval(platform, 'measure dead letters', measureIntervalMs, () => measure(platform)),
    startInterval(platform, 'prune handled events', pruneIntervalMs, async (signal) => {
      while (!signal.aborted && (await pruneHandledEvents(platform)) > 0);
    }),
  ]
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await Promise.all([...running, ...upkeep.map((part) => part[Symbol.asyncDispose]())])
    },
  }
}

/** Measures the dead letter stream. NATS being down is logged elsewhere. */
async function measure({ nats, metrics }: Platform): Promise<void> {
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout: 1_000 }).catch(() => undefined)
  const stream = await manager?.streams.info(deadLetterStream).catch(() => undefined)
  if (stream) metrics.deadLetters.set({ kind: 'message' }, stream.state.messages)
}

async function run(platform: Platform, job: Job, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const most = { messages: job.atOnce ?? mostAtOnce, bytes: mostBytes }
  while (!signal.aborted) {
    try {
      const opening = openSource(platform, job)
      const source = await Promise.race([opening, stopped])
      if (!source) {
        opening.then((late) => late.close()).catch(() => {})
        return
      }
      let tookMs = 0
      const intervalMs = () => paceBatches(job.intervalMs ?? shortestIntervalMs, tookMs)
      for await (const messages of batches(source, { intervalMs, signal, most })) {
        const started = performance.now()
        const extending = setInterval(() => extendAckDeadline(messages), extendIntervalMs)
        await work(platform, job, messages).finally(() => clearInterval(extending))
        tookMs = performance.now() - started
      }
    } catch (error) {
      platform.log.warn({ job: job.name, error: (error as Error).message }, 'job interrupted, will retry')
      await sleep(500, signal)
    }
  }
}

function extendAckDeadline(messages: JsMsg[]): void {
  try {
    for (const message of messages) message.working()
  } catch {
    // The NATS connection is closing; NATS will redeliver these messages.
  }
}

async function openSource(
  { nats, log }: Platform,
  { name, subject, atOnce = mostAtOnce, mostPending = atOnce * 4 }: Job,
): Promise<ConsumerMessages> {
  const manager = await jetstreamManager(nats)
  const config = {
    durable_name: name,
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: mostPending,
  }
  const { delivered } = await manager.consumers.add(changeStream, config)
  const { state } = await manager.streams.info(changeStream)
  if (delivered.stream_seq > state.last_seq) {
    // The stream was restored without its consumers: read it from the start, since every job is idempotent.
    log.error(
      { job: name, stream: changeStream, read: delivered.stream_seq, last: state.last_seq },
      'stream was restored to an older state, reading it from the start',
    )
    await manager.consumers.delete(changeStream, name)
    await manager.consumers.add(changeStream, config)
  }
  const consumer = await jetStream(nats).consumers.get(changeStream, name)
  // Without `expires`, the client pulls again only half a minute after NATS reconnects.
  return consumer.consume({ max_bytes: mostBytes, expires: 2_000 })
}

/** Handles a batch; after a failure, retries message by message, so that one bad message does not block the others. */
async function work(platform: Platform, job: Job, messages: JsMsg[]): Promise<void> {
  const readable = messages.map((message) => ({ message, body: job.schema.safeParse(parseJson(message)) }))
  const good = readable.flatMap(({ message, body }) => (body.success ? [{ message, body: body.data }] : []))
  for (const { message, body } of readable)
    if (!body.success) await bury(platform, job, message, z.prettifyError(body.error))
  if (good.length === 0) return
  try {
    await handle(platform, job, good)
    for (const { message } of good) message.ack()
    platform.metrics.jobs.inc({ job: job.name, outcome: 'done' }, good.length)
  } catch (error) {
    platform.log.warn({ job: job.name, error: (error as Error).message, messages: good.length }, 'job batch failed')
    for (const item of good) await workAlone(platform, job, item)
  }
}

async function workAlone(
  platform: Platform,
  job: Job,
  { message, body }: { message: JsMsg; body: unknown },
): Promise<void> {
  try {
    await handle(platform, job, [{ message, body }])
    message.ack()
    platform.metrics.jobs.inc({ job: job.name, outcome: 'done' })
  } catch (error) {
    const isRefused = judgeFailure(error) === 'refused'
    const attempts = isRefused ? refusedAttempts : (job.attempts ?? defaultAttempts)
    if (message.info.deliveryCount >= attempts) await bury(platform, job, message, (error as Error).message)
    else message.nak(Math.min(60_000, 500 * 2 ** message.info.deliveryCount))
  }
}

/** Runs the job's handler inside the traces of the messages' publishers. */
function handle(platform: Platform, job: Job, items: { message: JsMsg; body: unknown }[]): Promise<void> {
  const bodies = items.map((item) => item.body)
  if (!platform.tracing) return job.handle(platform, bodies)
  const parents = items.flatMap(({ message }) => message.headers?.get('traceparent') || [])
  const attributes = {
    'messaging.system': 'nats',
    'messaging.consumer.group.name': job.name,
    'messaging.batch.message_count': items.length,
  }
  return traced(platform, { name: `job ${job.name}`, kind: 'consumer', parents, attributes }, () =>
    job.handle(platform, bodies),
  )
}

/** Publishes a failed message to the dead letter stream, with its subject, sequence and the reason as headers. */
async function bury(platform: Platform, job: Job, message: JsMsg, problem: string): Promise<void> {
  const reason = problem.replaceAll(/\s+/g, ' ').slice(0, 500)
  const about = headers()
  about.set('Reason', reason)
  about.set('Subject', message.subject)
  about.set('Sequence', String(message.seq))
  await jetStream(platform.nats).publish(`dead.${job.name}`, message.data, {
    msgID: `${job.name}-${message.seq}-${message.time.getTime()}`,
    headers: about,
  })
  message.term(reason)
  platform.metrics.jobs.inc({ job: job.name, outcome: 'dead' })
  platform.log.error(
    { job: job.name, sequence: message.seq, reason },
    'retries exhausted, message moved to dead letters',
  )
}

function parseJson(message: JsMsg): unknown {
  try {
    return message.json()
  } catch {
    return undefined
  }
}
