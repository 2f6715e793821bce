import type { Platform } from '../../platform/context.ts'
import { deleteActivities } from './activities-store.ts'

const dayMs = 86_400_000
const rowsAtOnce = 1_000

/** Deletes activities of partners that are older than AUDIT_RETENTION_DAYS, oldest first. */
export async function removeOldActivities(
  { db, config, now }: Pick<Platform, 'db' | 'config' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = new Date(now().getTime() - config.AUDIT_RETENTION_DAYS * dayMs)
  for (let after: bigint | undefined = 0n; after !== undefined && !signal?.aborted; )
    after = await deleteActivities(db, { after, before, count: rowsAtOnce })
}
