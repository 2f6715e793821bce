import { finishErasure, openDeletions, recordErased, withDeletion } from '../features/workspaces/service.ts'
import type { Platform } from '../platform/context.ts'
import { isReferenced, savepoint } from '../platform/postgres.ts'
import {
  allowAuditErasure,
  deleteEvents,
  deleteSome,
  type ErasableTable,
  selectErasableTables,
  selectEventTables,
} from './erase-store.ts'

const rowsAtOnce = 2_000
const deletionsAtOnce = 20
// Batches that workers had read before the deletion are written within this time.
const inFlightMs = 10_000
// Late events, such as spooled clicks, arrive within this time.
const lateMs = 24 * 3_600_000

type Erasing = Pick<Platform, 'db' | 'clickhouse' | 'config' | 'now'>

/**
 * Erases deleted workspaces, a batch of rows per transaction. The progress is stored with each batch, so that another
 * worker continues after a crash.
 */
export async function eraseWorkspaces(platform: Erasing, signal: AbortSignal): Promise<void> {
  const sweptBefore = new Date(platform.now().getTime() - lateMs)
  for (const deletion of await openDeletions(platform, sweptBefore, deletionsAtOnce)) {
    const isInFlight = platform.now().getTime() - deletion.deleted_at.getTime() < inFlightMs
    const isEmpty = await eraseWorkspace(platform, deletion.former_id, signal)
    if (isEmpty && !isInFlight) {
      await withDeletion(platform, deletion.former_id, (db) => finishErasure(db, deletion.former_id))
    }
    if (signal.aborted) return
  }
}

/** Erases what a workspace has in PostgreSQL and ClickHouse. Returns whether there was nothing left. */
async function eraseWorkspace(platform: Erasing, workspaceId: string, signal: AbortSignal): Promise<boolean> {
  let erased = 0
  for (const table of await selectErasableTables(platform.db)) {
    let rows: number | undefined
    do {
      if (signal.aborted) return false
      rows = await eraseBatch(platform, table, workspaceId)
      if (rows === undefined) return false
      erased += rows
    } while (rows > 0)
  }
  const hasEvents = await eraseEvents(platform, workspaceId)
  return erased === 0 && !hasEvents
}

/** Erases some rows of a table; undefined when another worker works on this deletion. */
function eraseBatch(platform: Erasing, table: ErasableTable, workspaceId: string): Promise<number | undefined> {
  return withDeletion(platform, workspaceId, async (db) => {
    await allowAuditErasure(db)
    // Rows that others refer to are erased in the next round, after those that refer to them.
    const rows = await savepoint({ db }, ({ db }) => deleteSome(db, workspaceId, table, rowsAtOnce)).catch((error) => {
      if (isReferenced(error)) return 0
      throw error
    })
    if (rows > 0) await recordErased(db, workspaceId, table.name, rows)
    return rows
  })
}

async function eraseEvents({ clickhouse, config }: Erasing, workspaceId: string): Promise<boolean> {
  let hasEvents = false
  for (const table of await selectEventTables(clickhouse)) {
    if (await deleteEvents(clickhouse, workspaceId, table, config.CLICKHOUSE_CLUSTER)) hasEvents = true
  }
  return hasEvents
}
