import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { conflict } from '../../platform/errors.ts'
import { hashPartition } from '../../platform/ids.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { forbidIntents, insertCursors, lockIdlePartition, lockPartition, selectCursors } from './store.ts'

type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>

const mostWaitMs = 5_000

/**
 * Pauses click ingestion for these workspaces while `work` sets link counters, because a batch that is running then
 * would be counted twice. `isLocked` is false when a running batch does not end in time.
 */
export function betweenBatches<R>(
  platform: Handles,
  workspaces: string[],
  work: (platform: Handles, isLocked: boolean) => Promise<R>,
): Promise<R> {
  const partitions = new Set(workspaces.map((id) => hashPartition(id, platform.config.EVENT_PARTITIONS)))
  return transaction(platform, async (platform) => {
    const until = Date.now() + mostWaitMs
    for (const partition of [...partitions].sort()) {
      while (!(await lockCursor(platform, partition))) {
        if (Date.now() > until) return work(platform, false)
        await sleep(20)
      }
    }
    return work(platform, true)
  })
}

/** Pauses click ingestion of all partitions, so that link counters and stored clicks match during `work`. */
export async function betweenAllBatches<R>(
  platform: Handles,
  work: (platform: Handles) => Promise<R>,
  patienceMs = 30_000,
): Promise<R> {
  await insertCursors(platform.db, platform.config.EVENT_PARTITIONS)
  const partitions = (await selectCursors(platform.db)).map(({ partition }) => partition).sort((a, b) => a - b)
  return transaction(platform, async (platform) => {
    await forbidIntents(platform.db)
    const until = Date.now() + patienceMs
    for (const partition of partitions) {
      while (!(await lockIdlePartition(platform.db, partition))) {
        if (Date.now() > until)
          throw conflict('A batch of clicks has not finished. Check that a worker is running, then retry.')
        await sleep(20)
      }
    }
    return work(platform)
  })
}

/** Locks a partition's cursor. While a batch is running, releases the lock again at once so the batch can finish. */
async function lockCursor(platform: Handles, partition: number): Promise<boolean> {
  const busy = new Error('The partition is busy')
  try {
    await savepoint(platform, async ({ db }) => {
      if (await lockPartition(db, partition)) throw busy
    })
    return true
  } catch (error) {
    if (error === busy) return false
    throw error
  }
}
