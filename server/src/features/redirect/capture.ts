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

type Batch = { clicks: RawClick[]; stored: Promise<void>; settle: () => void }
type Lane = { open: Batch | undefined; inFlight: number; scheduled: boolean }

const mostInFlight = 2

/** Group commit: while two batches are being acknowledged the next one fills, so a busy server shares the wait. */
export function openCapture(platform: Platform, spool: Spool): Capture {
  const { config, log, metrics, nats } = platform
  const stream = jetStream(nats)
  const lanes = Array.from(
    { length: config.EVENT_PARTITIONS },
    (): Lane => ({ open: undefined, inFlight: 0, scheduled: false }),
  )

  function schedule(partition: number): void {
    const lane = lanes[partition] as Lane
    if (lane.scheduled || lane.inFlight >= mostInFlight || !lane.open) return
    lane.scheduled = true
    setImmediate(() => {
      lane.scheduled = false
      void send(partition)
    })
  }

  async function send(partition: number): Promise<void> {
    const lane = lanes[partition] as Lane
    const batch = lane.open
    if (!batch || lane.inFlight >= mostInFlight) return
    lane.open = undefined
    lane.inFlight += 1
    await store(partition, batch.clicks)
    lane.inFlight -= 1
    batch.settle()
    schedule(partition)
  }

  async function store(partition: number, clicks: RawClick[]): Promise<void> {
    const message = { subject: clicksSubject(partition), id: randomUUID(), body: JSON.stringify(clicks) }
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
      lane.open ??= newBatch()
      lane.open.clicks.push(click)
      schedule(partition)
      return lane.open.stored
    },
    async [Symbol.asyncDispose]() {
      while (lanes.some((lane) => lane.open || lane.inFlight > 0))
        await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

function newBatch(): Batch {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { clicks: [], stored: promise, settle: resolve }
}
