import { randomUUID } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { partitionOf } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { clicksSubject, type RawClick } from './messages.ts'
import type { Spool } from './spool.ts'

export type Capture = AsyncDisposable & {
  /** Resolves when the click is stored: in the log, or in the spool when the log is away. */
  add(click: RawClick): Promise<void>
}

type Batch = { clicks: string[]; bytes: number; stored: Promise<void>; settle: () => void }
type Lane = { waiting: Batch[]; inFlight: number; scheduled: boolean }

const mostInFlight = 2
// NATS takes messages up to 1 MiB unless told otherwise.
const mostBytes = 524_288

/** Group commit: while two batches are being acknowledged the next one fills, so a busy server shares the wait. */
export function openCapture(platform: Platform, spool: Spool): Capture {
  const { config, log, metrics, nats } = platform
  const stream = jetStream(nats)
  const lanes = Array.from(
    { length: config.EVENT_PARTITIONS },
    (): Lane => ({ waiting: [], inFlight: 0, scheduled: false }),
  )

  function schedule(partition: number): void {
    const lane = lanes[partition] as Lane
    if (lane.scheduled || lane.inFlight >= mostInFlight || lane.waiting.length === 0) return
    lane.scheduled = true
    setImmediate(() => {
      lane.scheduled = false
      void send(partition)
    })
  }

  async function send(partition: number): Promise<void> {
    const lane = lanes[partition] as Lane
    const batch = lane.waiting.shift()
    if (!batch) return
    lane.inFlight += 1
    schedule(partition)
    await store(partition, batch.clicks)
    lane.inFlight -= 1
    batch.settle()
    schedule(partition)
  }

  async function store(partition: number, clicks: string[]): Promise<void> {
    const message = { subject: clicksSubject(partition), id: randomUUID(), body: `[${clicks.join(',')}]` }
    const timer = metrics.captureSeconds.startTimer()
    try {
      if (!nats.isClosed() && spool.isQuiet()) {
        await stream.publish(message.subject, message.body, {
          msgID: message.id,
          timeout: config.CAPTURE_DEADLINE_MS,
          retries: 1,
        })
        timer({ outcome: 'log' })
        return
      }
    } catch (error) {
      log.warn(
        { error: (error as Error).message, clicks: clicks.length },
        'The event log did not answer: clicks go to the spool',
      )
    }
    try {
      await spool.append(message)
      timer({ outcome: 'spool' })
    } catch (error) {
      timer({ outcome: 'lost' })
      metrics.clicksLost.inc(clicks.length)
      log.error(
        { error, clicks: clicks.length },
        'Neither log nor spool took these clicks: they are lost, the visitors go on',
      )
    }
  }

  return {
    add(click) {
      const partition = partitionOf(click.workspaceId, config.EVENT_PARTITIONS)
      const lane = lanes[partition] as Lane
      const text = JSON.stringify(click)
      const batch = batchFor(lane, Buffer.byteLength(text))
      batch.clicks.push(text)
      schedule(partition)
      return batch.stored
    },
    async [Symbol.asyncDispose]() {
      while (lanes.some((lane) => lane.waiting.length > 0 || lane.inFlight > 0))
        await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

/** The batch that is filling, or a new one when it has no room for that many bytes. */
function batchFor(lane: Lane, bytes: number): Batch {
  const filling = lane.waiting.at(-1)
  if (filling && filling.bytes + bytes <= mostBytes) {
    filling.bytes += bytes + 1
    return filling
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  const batch = { clicks: [], bytes, stored: promise, settle: resolve }
  lane.waiting.push(batch)
  return batch
}
