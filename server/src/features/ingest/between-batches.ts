import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { partitionOf } from '../../platform/ids.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { lockPartition } from './store.ts'

type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>

const mostWaitMs = 5_000

/**
 * A counter set while a batch is under way would count that batch twice, so the workers of these workspaces are held up
 * for a moment. `isStill` is false when a batch does not end.
 */
export function betweenBatches<R>(
  platform: Handles,
  workspaces: string[],
  work: (platform: Handles, isStill: boolean) => Promise<R>,
): Promise<R> {
  const partitions = new Set(workspaces.map((id) => partitionOf(id, platform.config.EVENT_PARTITIONS)))
  return transaction(platform, async (platform) => {
    const until = Date.now() + mostWaitMs
    for (const partition of [...partitions].sort()) {
      while (!(await hold(platform, partition))) {
        if (Date.now() > until) return work(platform, false)
        await sleep(20)
      }
    }
    return work(platform, true)
  })
}

/** A lock on a partition that is at work is given back at once, or its batch could not end. */
async function hold(platform: Handles, partition: number): Promise<boolean> {
  const busy = new Error('A batch is under way')
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
