import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { eventStream } from '../../platform/nats.ts'
import { startInterval } from '../../platform/schedule.ts'
import { ingestMetrics } from './metrics.ts'
import { type LogCursor, selectCursors } from './store.ts'

type Lag = { partition: number; messages: number; oldestAt: number | undefined; isOwned: boolean }

const measureIntervalMs = 2_000

/** Measures the ingest lag of every partition, owned by this worker or not, even while the worker is idle or stuck. */
export function startLagMeter(platform: Platform, owner: string): AsyncDisposable {
  const { log } = platform
  const metrics = ingestMetrics(platform)
  let lags: Lag[] = []
  return startInterval(platform, 'ingest lag', measureIntervalMs, async () => {
    try {
      lags = await measureLags(platform, owner)
    } catch (error) {
      // Without a new measurement, the age of the oldest message known so far keeps growing.
      log.debug({ error: (error as Error).message }, 'ingest lag could not be measured')
    }
    const now = platform.now().getTime()
    for (const { partition, messages, oldestAt, isOwned } of lags) {
      metrics.lag.set({ partition }, messages)
      metrics.lagSeconds.set({ partition }, oldestAt === undefined ? 0 : Math.max(0, now - oldestAt) / 1000)
      metrics.owned.set({ partition }, isOwned ? 1 : 0)
    }
  })
}

export async function measureLags(
  { config, db, nats }: Pick<Platform, 'config' | 'db' | 'nats'>,
  owner?: string,
): Promise<Lag[]> {
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout: measureIntervalMs })
  const cursors = new Map((await selectCursors(db)).map((cursor) => [cursor.partition, cursor]))
  const partitions = Array.from({ length: config.EVENT_PARTITIONS }, (_, partition) => partition)
  return Promise.all(
    partitions.map((partition) =>
      measurePartition(manager, cursors.get(partition) ?? { partition, sequence: 0, stream: '', owner: null }, owner),
    ),
  )
}

async function measurePartition(manager: JetStreamManager, cursor: LogCursor, owner?: string): Promise<Lag> {
  const { partition, sequence } = cursor
  const { state } = await manager.streams.info(eventStream(partition))
  const messages = Math.max(0, state.last_seq - Math.max(sequence, state.first_seq - 1))
  const oldestAt = messages > 0 ? await arrivalAfter(manager, partition, sequence) : undefined
  return { partition, messages, oldestAt, isOwned: owner !== undefined && cursor.owner === owner }
}

/** When the first remaining message after `sequence` arrived in the log; messages before it may have been deleted. */
async function arrivalAfter(manager: JetStreamManager, partition: number, sequence: number) {
  const request = { seq: sequence + 1, next_by_subj: '>' }
  const message = await manager.direct.getMessage(eventStream(partition), request)
  return message?.time.getTime()
}
