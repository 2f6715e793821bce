import { openByteCache } from '../../platform/byte-cache.ts'
import type { Config } from '../../platform/config.ts'
import type { Platform } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'
import { upsertPageReport } from './reports-store.ts'

const noted = memoByObject((_: Config) => openByteCache<true>({ maxBytes: 4_000_000, ttlMs: 3_600_000 }))
const longestHost = 253

/** Notes that a page of the workspace uses the script; at most once an hour in each process. */
export async function notePage(
  platform: Pick<Platform, 'db' | 'config' | 'now' | 'log'>,
  workspaceId: string,
  page: string,
): Promise<void> {
  const known = noted(platform.config)
  if (page === '' || known.has(workspaceId)) return
  known.set(workspaceId, true)
  try {
    await upsertPageReport(platform.db, workspaceId, { host: page.slice(0, longestHost), at: platform.now() })
  } catch (error) {
    // A click must be stored also while PostgreSQL is down.
    known.delete(workspaceId)
    platform.log.debug({ workspaceId, error }, 'page report not noted')
  }
}
