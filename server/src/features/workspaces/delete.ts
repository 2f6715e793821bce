import type { WorkspaceDeletion } from '@tributary/contract/workspaces'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { type DeletionRow, insertDeletion, markDeleted, selectDeletion } from './deletions-store.ts'
import { workspaceDeletedMessage } from './messages.ts'
import { requireOwn, unknownWorkspace } from './service.ts'

/**
 * Marks a workspace as deleted. From now on no reader finds it: redirects, keys, members and jobs look only for
 * workspaces that are not deleted. Its slug is free at once; a job erases the data.
 */
export async function deleteWorkspace(ctx: Ctx, idOrSlug: string, confirmed: string): Promise<WorkspaceDeletion> {
  const { id, name, slug } = await requireOwn(ctx, idOrSlug)
  if (confirmed !== slug) {
    throw invalid(`\`confirm\` in the query must be the slug of the workspace, ${slug}. Nothing was deleted.`)
  }
  const deletion = await transaction(ctx, async (ctx) => {
    if (!(await markDeleted(ctx.db, id))) throw unknownWorkspace(idOrSlug)
    const partition = hashPartition(id, ctx.config.EVENT_PARTITIONS)
    await publish(ctx, workspaceDeletedMessage({ workspaceId: id }, partition))
    reportChange(ctx, { id, before: { name, slug } })
    const deletedBy = ctx.actor.kind === 'user' ? ctx.actor.id : null
    return insertDeletion(ctx.db, { former_id: id, name, slug, deleted_by: deletedBy })
  })
  return present(deletion)
}

/** Returns the latest deletion with this id or former slug to the user who requested it. */
export async function getWorkspaceDeletion(ctx: Ctx, idOrSlug: string): Promise<WorkspaceDeletion> {
  const deletion = await selectDeletion(ctx.db, ctx.actor.id, idOrSlug)
  if (deletion) return present(deletion)
  throw new AppError('not_found', `You have deleted no workspace with the id or slug ${idOrSlug}.`)
}

function present(row: DeletionRow): WorkspaceDeletion {
  return {
    id: row.former_id,
    name: row.name,
    slug: row.slug,
    status: row.erased_at ? 'erased' : 'erasing',
    erasedRows: Number(row.erased_rows),
    step: row.step,
    deletedAt: row.deleted_at.toISOString(),
    erasedAt: row.erased_at?.toISOString() ?? null,
  }
}
