import type { BulkOperation } from '@tributary/contract/bulk-operations'
import type { OperationRow } from './store.ts'

export const undoableMs = 86_400_000

/** Builds the API's operation from its row. */
export function presentOperation(row: OperationRow, problems: BulkOperation['problems'] = []): BulkOperation {
  const canUndo = row.finished_at !== null && row.expired_at === null && row.changed > row.undone
  const until = canUndo && row.finished_at ? new Date(row.finished_at.getTime() + undoableMs).toISOString() : null
  return {
    id: row.id,
    status: row.status,
    action: row.action,
    filter: row.filter,
    data:
      row.action === 'replaceInUrl'
        ? null
        : row.data && { ...row.data, ...(row.sealed_password && { password: null }) },
    replace: row.action === 'replaceInUrl' ? (row.data as BulkOperation['replace']) : null,
    folderId: row.folder_id,
    tagIds: row.tag_ids,
    total: row.total,
    processed: row.processed,
    changed: row.changed,
    unchanged: row.unchanged,
    failed: row.failed,
    undone: row.undone,
    conflicts: row.conflicts,
    problems,
    error: row.error,
    sample: [],
    actor: { kind: row.actor_kind, id: row.actor_id },
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    undoableUntil: row.status === 'undone' ? null : until,
  }
}
