import type { Platform } from '../../platform/context.ts'
import { deleteLetters, insertLetter, markRetried } from '../../platform/dead-letters.ts'
import { transaction } from '../../platform/postgres.ts'
import { removeConversions } from '../rollups/service.ts'
import { makeDue, type PendingRow, setAside } from './store.ts'

/**
 * Makes a lead, sale or refund a dead letter: it is neither counted nor stored in ClickHouse until it is retried. A
 * failed export may have left its rows in ClickHouse, so these are deleted first.
 */
export async function buryConversion(platform: Platform, row: PendingRow, reason: string): Promise<void> {
  await transaction(platform, async (platform) => {
    const { id, workspace_id, kind, created_at } = row
    await removeConversions(platform, kind === 'lead' ? 'leads' : 'sales', {
      workspaceId: workspace_id,
      id,
      at: created_at.getTime(),
    })
    if (!(await setAside(platform.db, workspace_id, row))) return
    await insertLetter(platform.db, { workspaceId: workspace_id, kind: 'conversion', reference: id, reason })
  })
  platform.log.error({ workspaceId: row.workspace_id, id: row.id, reason }, 'lead or sale became a dead letter')
}

/** Retries a dead-lettered lead, sale or refund in the next export batch. False when its row no longer exists. */
export function retryConversion(platform: Pick<Platform, 'db'>, workspaceId: string, id: string): Promise<boolean> {
  return transaction(platform, async ({ db }) => {
    const isThere = await makeDue(db, workspaceId, id)
    if (isThere) await markRetried(db, 'conversion', id)
    else await deleteLetters(db, 'conversion', [id])
    return isThere
  })
}
