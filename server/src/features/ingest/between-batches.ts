import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { conflict } from '../../platform/errors.ts'
import { hashPartition } from '../../platform/ids.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { forbidIntents, insertCursors, lockIdlePartition, lockPartition, selectCursors } from './store.ts'

type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>

const mostWaitMs = 5_000

/**
 * A counter that is set during a batch would count that batch twice, so this pauses the workers of these workspaces.
 * `isLocked` is false when a batch does not end in time.
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

/** Locks all partitions at once, so that counters and stored rows match. */
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

/** Releases the lock on a busy partition at once, or its batch could not end. */
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
