import type { Platform } from '../../platform/context.ts'
import { deleteSpending } from './store.ts'

// A sale by hand can have an old date. Its day, week or month then starts with nothing spent.
const retentionMs = 731 * 86_400_000
const rowsAtOnce = 1_000

/** Deletes what rewards spent in days, weeks and months that are long over. Limits in total stay counted. */
export async function removeOldSpending(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = new Date(now().getTime() - retentionMs)
  while (!signal?.aborted && (await deleteSpending(db, before, rowsAtOnce)) === rowsAtOnce);
}
