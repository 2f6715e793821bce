import { randomUUID } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { openPublisher } from '../../platform/nats.ts'
import { type ClickBody, openClickBody } from './click-body.ts'
import { clicksSubject, type RawClick } from './messages.ts'
import { redirectMetrics } from './metrics.ts'
import type { Spool } from './spool.ts'

export type Capture = AsyncDisposable & {
  /**
   * Calls `whenDone` when the click is in the event log or, while NATS is down, in the spool; with false when both
   * failed. A callback, because a promise per click would cost as much as looking up its link.
   */
  add(click: RawClick, whenDone: WhenDone): void
  /** True when clicks arrive faster than they are stored: then every redirect waits until its click is stored. */
  isBehind(): boolean
}

type WhenDone = (isStored: boolean) => void
type Batch = { body: ClickBody; waiting: WhenDone[] }
type Lane = { waiting: Batch[]; inFlight: number; scheduled: boolean }

const mostInFlight = 2
// While one batch is in flight, the next is sent only when it has some dozen clicks.
const worthwhileBytes = 6_000
// A click adds up to 100,000, and a UTF-16 code unit takes up to three bytes in UTF-8; NATS's default is 1 MiB a message.
const mostSize = 200_000
const mostWaiting = 8
// No visitor waits for an asynchronous click, so that more of them can share a message.
const asyncWaitMs = 5
const mostTurns = 2
// Each batch in the spool is a file, and two waits for the disk.
const spoolWaitMs = 20

/** Writes clicks to the log with group commit: the next batch fills while up to two batches await acknowledgement. */
export function openCapture(platform: Platform, spool: Spool): Capture {
  const { config, log, nats } = platform
  const metrics = redirectMetrics(platform)
  const publisher = openPublisher(nats, config.CAPTURE_DEADLINE_MS)
  const lanes = Array.from(
    { length: config.EVENT_PARTITIONS },
    (): Lane => ({ waiting: [], inFlight: 0, scheduled: false }),
  )

  /** Adds a click to the partition's last unsent batch, or to a new batch when that one is full. */
  function take({ waiting }: Lane, click: RawClick, whenDone: WhenDone): void {
    const last = waiting.at(-1)
    const batch =
      last && last.body.size() < mostSize ? last : { body: openClickBody(config.CLICK_LOG_FORMAT), waiting: [] }
    if (batch !== last) waiting.push(batch)
    batch.body.add(click)
    batch.waiting.push(whenDone)
  }

  function schedule(partition: number): void {
    const lane = lanes[partition] as Lane
    if (lane.scheduled || !mayGo(lane)) return
    lane.scheduled = true
    if (config.CLICK_DURABILITY === 'async') setTimeout(go, asyncWaitMs, partition)
    else if (!spool.isQuiet()) setTimeout(go, spoolWaitMs, partition)
    else setImmediate(goWhenFull, partition, 0, 0)
  }

  /** Waits up to two event-loop turns while more clicks arrive, because a NATS message costs as much as the wait. */
  function goWhenFull(partition: number, clicks: number, turns: number): void {
    const lane = lanes[partition] as Lane
    const now = lane.waiting[0]?.waiting.length ?? 0
    if (turns > 0 && now > clicks && turns < mostTurns) return void setImmediate(goWhenFull, partition, now, turns + 1)
    if (turns === 0 && now > 1) return void setImmediate(goWhenFull, partition, now, 1)
    go(partition)
  }

  function go(partition: number): void {
    ;(lanes[partition] as Lane).scheduled = false
    void send(partition)
  }

  async function send(partition: number): Promise<void> {
    const lane = lanes[partition] as Lane
    const batch = lane.waiting.shift()
    if (!batch) return
    lane.inFlight += 1
    schedule(partition)
    const isStored = await store(partition, batch)
    lane.inFlight -= 1
    for (const whenDone of batch.waiting) whenDone(isStored)
    schedule(partition)
  }

  async function store(partition: number, { body, waiting }: Batch): Promise<boolean> {
    const clicks = waiting.length
    const message = { subject: clicksSubject(partition), id: randomUUID() }
    const timer = metrics.captureSeconds.startTimer()
    try {
      if (!nats.isClosed() && spool.isQuiet()) {
        await publisher.publish({ ...message, body: body.finish() })
        timer({ outcome: 'log' })
        return true
      }
    } catch (error) {
      log.warn({ error: (error as Error).message, clicks }, 'event log did not acknowledge clicks, spooling them')
    }
    try {
      await spool.append({ ...message, body: body.json() })
      timer({ outcome: 'spool' })
      return true
    } catch (error) {
      timer({ outcome: 'lost' })
      metrics.clicksLost.inc(clicks)
      log.error({ error, clicks }, 'event log and spool both failed, clicks are lost')
      return false
    }
  }

  return {
    add(click, whenDone) {
      const partition = hashPartition(click.workspaceId, config.EVENT_PARTITIONS)
      take(lanes[partition] as Lane, click, whenDone)
      schedule(partition)
    },
    isBehind: () => lanes.some((lane) => lane.waiting.length > mostWaiting),
    async [Symbol.asyncDispose]() {
      while (lanes.some((lane) => lane.waiting.length > 0 || lane.inFlight > 0))
        await new Promise((resolve) => setTimeout(resolve, 5))
      publisher[Symbol.dispose]()
    },
  }
}

function mayGo({ waiting, inFlight }: Lane): boolean {
  const [first] = waiting
  if (!first || inFlight >= mostInFlight) return false
  return inFlight === 0 || waiting.length > 1 || first.body.size() >= worthwhileBytes
}
