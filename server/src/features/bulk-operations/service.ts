import type { BulkOperation, BulkOperationsQuery, NewBulkOperation } from '@tributary/contract/bulk-operations'
import type { Ctx } from '../../platform/context.ts'
import { badRequest, conflict, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { seal } from '../../platform/seal.ts'
import { markWritten } from '../audit/service.ts'
import { hiddenFolders } from '../folders/service.ts'
import { fixTimes, type LinksChange, linkTitles, matchingLinks, previewChange } from '../links/service.ts'
import { presentOperation, undoableMs } from './present.ts'
import {
  cancelOperation,
  countOpen,
  countSelected,
  insertOperation,
  lockOperations,
  type NewOperationRow,
  type OperationRow,
  type StoredActor,
  selectOperation,
  selectOperations,
  selectProblems,
  selectSample,
  startUndo,
} from './store.ts'

const mostLinks = 100_000
const mostOpen = 3
const sampleSize = 10
const mostProblems = 100

/** Starts an operation, whose links a worker changes; with `dryRun`, only shows what it would change. */
export async function createBulkOperation(ctx: Ctx, input: NewBulkOperation): Promise<BulkOperation> {
  return transaction(ctx, async (ctx) => {
    const change = readChange(input, ctx.now())
    const { showArchived = false, ...named } = input.filter
    const selection = await matchingLinks(ctx, { ...named, showArchived, withTags: false })
    const sample = await previewChange(ctx, await selectSample(ctx.db, selection, sampleSize), change)
    const row = describeOperation(ctx, input, change)
    if (input.dryRun) {
      const total = requireFew(await countSelected(ctx.db, selection, mostLinks + 1))
      markWritten([{ ctx }])
      return { ...presentOperation(unstarted(ctx, row, total)), id: null, status: 'dryRun', sample }
    }
    await requireOpenRoom(ctx)
    const operation = await insertOperation(ctx.db, row, selection, mostLinks + 1)
    requireFew(operation.total)
    const { id, action, filter, data, folder_id, tag_ids } = operation
    reportChange(ctx, { id, after: { action, filter, data, folder_id, tag_ids, total: operation.total } })
    return presentOperation(operation)
  })
}

export async function listBulkOperations(ctx: Ctx, query: BulkOperationsQuery): Promise<BulkOperation[]> {
  const rows = await selectOperations(ctx.db, ctx.workspaceId, {
    actorId: visibleActor(ctx),
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map((row) => presentOperation(row))
}

export async function getBulkOperation(ctx: Ctx, id: string): Promise<BulkOperation> {
  return presentWithProblems(ctx, await requireOperation(ctx, id))
}

/** Stops a running operation. Waits for the batch in progress, which holds a lock on the operation. */
export async function cancelBulkOperation(ctx: Ctx, id: string): Promise<BulkOperation> {
  return transaction(ctx, async (ctx) => {
    const row = await requireOperation(ctx, id, { isLocked: true })
    if (row.status === 'canceled') return presentWithProblems(ctx, row)
    if (row.status !== 'running')
      throw conflict(`The operation ${id} is ${row.status}. Only a running one can be canceled.`)
    await cancelOperation(ctx.db, ctx.workspaceId, row.number, ctx.now())
    reportChange(ctx, { id, before: row, after: { status: 'canceled' } })
    return presentWithProblems(ctx, await requireOperation(ctx, id))
  })
}

/** Starts to give the links of an operation their former values. */
export async function undoBulkOperation(ctx: Ctx, id: string): Promise<BulkOperation> {
  return transaction(ctx, async (ctx) => {
    await lockOperations(ctx.db, ctx.workspaceId)
    const row = await requireOperation(ctx, id, { isLocked: true })
    if (row.status === 'undoing') return presentWithProblems(ctx, row)
    if (row.status === 'running')
      throw conflict(`The operation ${id} is running. Wait for its end, or cancel it first.`)
    if (row.status === 'undone') throw conflict(`The operation ${id} was undone already.`)
    const end = row.finished_at?.getTime() ?? 0
    if (row.expired_at !== null || end + undoableMs <= ctx.now().getTime())
      throw conflict(`The operation ${id} can't be undone: its former values are deleted.`)
    await requireOpenRoom(ctx)
    const undo = { actor: readActor(ctx), folderAccess: ctx.folderAccess ?? null }
    await startUndo(ctx.db, ctx.workspaceId, row.number, undo)
    reportChange(ctx, { id, before: row, after: { status: 'undoing' } })
    return presentWithProblems(ctx, await requireOperation(ctx, id))
  })
}

function readChange({ action, data, replace, folderId, tagIds }: NewBulkOperation, now: Date): LinksChange {
  if (action === 'delete') return { action }
  if (action === 'replaceInUrl') {
    if (!replace) throw badRequest('`replace` in the body is required for `replaceInUrl`.')
    return { action, ...replace }
  }
  if (action === 'update') {
    if (!data || Object.keys(data).length === 0) throw badRequest('`data` in the body is required for `update`.')
    return { action, data: fixTimes(data, now) }
  }
  if (action === 'move') {
    if (folderId === undefined)
      throw badRequest('`folderId` in the body is required for `move`. Send null for no folder.')
    return { action: 'update', data: { folderId } }
  }
  if (!tagIds) throw badRequest(`\`tagIds\` in the body is required for \`${action}\`.`)
  return { action, tagIds }
}

function describeOperation(ctx: Ctx, input: NewBulkOperation, change: LinksChange): NewOperationRow {
  const id = newId('bulk')
  const { kind, ...actor } = readActor(ctx)
  const { password, ...data } = change.action === 'update' && input.action === 'update' ? change.data : {}
  return {
    id,
    workspace_id: ctx.workspaceId,
    actor_kind: kind,
    actor_id: actor.id,
    credential: actor.credential,
    folder_access: ctx.folderAccess ?? null,
    action: input.action,
    filter: input.filter,
    data: storedData(input, { ...data, ...(password === null && { password }) }),
    sealed_password: password ? seal(ctx.config.ENCRYPTION_KEYS, id, password) : null,
    tag_ids: input.action === 'addTags' || input.action === 'removeTags' ? (input.tagIds ?? null) : null,
    folder_id: input.action === 'move' ? (input.folderId ?? null) : null,
  }
}

/** The texts of a replacement are stored beside the fields of an update: both say what changes. */
function storedData({ action, replace }: NewBulkOperation, fields: object): object | null {
  if (action === 'replaceInUrl') return replace ?? null
  return action === 'update' ? fields : null
}

function unstarted(ctx: Ctx, row: NewOperationRow, total: number): OperationRow {
  const counts = { total, processed: 0, changed: 0, unchanged: 0, failed: 0, undone: 0, conflicts: 0 }
  const times = { created_at: ctx.now(), finished_at: null, expired_at: null }
  const state = { number: 0n, position: 0n, stored_bytes: 0n, attempts: 0, error: null, undo_actor: null }
  return { ...row, ...counts, ...times, ...state, status: 'running' }
}

function readActor({ actor }: Ctx): StoredActor {
  return { kind: actor.kind, id: actor.id, credential: (actor.kind === 'user' ? actor.sessionId : actor.id) ?? null }
}

function requireFew(total: number): number {
  if (total <= mostLinks) return total
  throw invalid(`\`filter\` in the body matches more than ${mostLinks} links. Narrow it, and start several operations.`)
}

async function requireOpenRoom(ctx: Ctx): Promise<void> {
  await lockOperations(ctx.db, ctx.workspaceId)
  if ((await countOpen(ctx.db, ctx.workspaceId)) < mostOpen) return
  throw conflict(`The workspace has ${mostOpen} bulk operations in progress. Wait for the end of one, or cancel one.`)
}

/** Callers with hidden folders see only their own operations, because others may name hidden links and folders. */
function visibleActor(ctx: Ctx): string | undefined {
  return hiddenFolders(ctx).length > 0 ? ctx.actor.id : undefined
}

async function requireOperation(ctx: Ctx, id: string, options: { isLocked?: boolean } = {}): Promise<OperationRow> {
  const row = await selectOperation(ctx.db, ctx.workspaceId, id, { ...options, actorId: visibleActor(ctx) })
  if (!row) throw notFound('bulk operation', id)
  return row
}

async function presentWithProblems(ctx: Ctx, row: OperationRow): Promise<BulkOperation> {
  const stored = await selectProblems(ctx.db, ctx.workspaceId, row.number, mostProblems)
  const links = await linkTitles(
    ctx,
    stored.map(({ number }) => number),
  )
  const problems = stored.flatMap(({ number, problem }) => {
    const link = links.get(String(number))
    return link ? [{ linkId: link.id, message: problem }] : []
  })
  return presentOperation(row, problems)
}
