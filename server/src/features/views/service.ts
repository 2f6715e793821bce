import type { NewView, View, ViewPatch, ViewsQuery } from '@tributary/contract/views'
import { type Ctx, findUserId, requireScope } from '../../platform/context.ts'
import { conflict, forbidden, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireRoom } from '../workspaces/service.ts'
import {
  countPersonalViews,
  countViews,
  deleteViewRow,
  insertView,
  lockView,
  selectViews,
  selectViewsById,
  updateViewRow,
  type ViewRow,
} from './store.ts'

const mostPersonal = 200

export async function listViews(ctx: Ctx, query: ViewsQuery): Promise<View[]> {
  const rows = await selectViews(ctx.db, ctx.workspaceId, {
    ...{ userId: findUserId(ctx.actor) ?? null, screen: query.screen, visibility: query.visibility },
    ...{ sort: query.sortBy, ascending: query.sortOrder === 'asc' },
    ...{ offset: (query.page - 1) * query.pageSize, count: query.pageSize },
  })
  return rows.map(present)
}

export async function createView(ctx: Ctx, { visibility, ...given }: NewView): Promise<View> {
  const owner = visibility === 'personal' ? requireOwner(ctx) : null
  const row = await transaction(ctx, async (ctx) => {
    await requireRoom(ctx, 'views', () => countViews(ctx.db, ctx.workspaceId))
    if (owner !== null) await requirePersonalRoom(ctx, owner)
    const creator = findUserId(ctx.actor) ?? null
    const ids = { id: newId('view'), workspace_id: ctx.workspaceId, owner_id: owner, created_by: creator }
    return insertView(ctx.db, { ...ids, ...given })
  })
  if (!row) throw nameTaken(given.name)
  return present(row)
}

export async function updateView(ctx: Ctx, id: string, { visibility, ...patch }: ViewPatch): Promise<View> {
  return transaction(ctx, async (ctx) => {
    const row = await requireView(ctx, id)
    // A shared page shows what its view says.
    if (patch.query && row.screen === 'analytics') requireScope(ctx.actor, 'analytics.read')
    const owner = visibility === undefined ? row.owner_id : await changeOwner(ctx, row, visibility)
    const after = { name: patch.name ?? row.name, query: patch.query ?? row.query, owner_id: owner }
    reportChange(ctx, { id, before: row, after })
    const updated = await updateViewRow(ctx.db, ctx.workspaceId, id, after).catch((error) => {
      throw violatedConstraint(error) === 'views_name' ? nameTaken(after.name) : error
    })
    if (!updated) throw notFound('view', id)
    return present(updated)
  })
}

export async function deleteView(ctx: Ctx, id: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const row = await requireView(ctx, id)
    reportChange(ctx, { id, before: row })
    await deleteViewRow(ctx.db, ctx.workspaceId, id)
    return { id }
  })
}

/** Views of any user, also personal ones: the caller decides who sees them. In a transaction, locks them against deletion. */
export async function viewsByIds(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  ids: string[],
): Promise<Map<string, View>> {
  const rows = ids.length === 0 ? [] : await selectViewsById(db, workspaceId, ids)
  return new Map(rows.map((row) => [row.id, present(row)]))
}

/** Reads and locks a view that the caller sees: a shared one, or its own. */
async function requireView(ctx: Ctx, id: string): Promise<ViewRow> {
  const row = await lockView(ctx.db, ctx.workspaceId, id)
  const isVisible = row && (row.owner_id === null || row.owner_id === findUserId(ctx.actor))
  if (!isVisible) throw notFound('view', id)
  return row
}

async function changeOwner(ctx: Ctx, row: ViewRow, visibility: View['visibility']): Promise<string | null> {
  if (visibility === 'shared' || row.owner_id !== null) return visibility === 'shared' ? null : row.owner_id
  const owner = requireOwner(ctx)
  if (row.created_by !== owner) {
    throw forbidden(`Only the creator of the view ${row.id} can make it personal. Save your own view of it instead.`)
  }
  await requirePersonalRoom(ctx, owner)
  return owner
}

function requireOwner({ actor }: Ctx): string {
  const userId = findUserId(actor)
  if (userId !== undefined) return userId
  throw forbidden(
    'A personal view belongs to a user, but a machine key has none. Set `visibility` to `shared`, or use a session or a personal key.',
  )
}

async function requirePersonalRoom(ctx: Ctx, owner: string): Promise<void> {
  if ((await countPersonalViews(ctx.db, ctx.workspaceId, owner)) < mostPersonal) return
  throw conflict(`You have ${mostPersonal} personal views in this workspace, which is the maximum. Delete some.`)
}

function nameTaken(name: string) {
  return conflict(`Another view of this screen already has the name ${name}. Choose another name.`)
}

function present(row: ViewRow): View {
  const { id, screen, name, query } = row
  return {
    ...{ id, screen, name, query },
    visibility: row.owner_id === null ? 'shared' : 'personal',
    userId: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
