import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { AppError, conflict } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { unseal } from '../../platform/seal.ts'
import { recordAudit } from '../audit/service.ts'
import {
  changeManyLinks,
  type LinkOutcome,
  type LinksChange,
  linksWithinBytes,
  undoManyLinks,
} from '../links/service.ts'
import { undoableMs } from './present.ts'
import {
  claimOperation,
  countAttempt,
  deleteOperations,
  expireLinks,
  expireOldest,
  type OperationRow,
  type StoredLink,
  selectNextLinks,
  storeOutcomes,
  sumStored,
  updateProgress,
} from './store.ts'

const linksAtOnce = 500
const bytesAtOnce = 4_000_000
const mostStoredBytes = 100_000_000
/** Former values of a workspace; more than its three open operations can store. */
const mostWorkspaceBytes = 500_000_000
const mostAttempts = 10
const retainedMs = 30 * 86_400_000
const expiredAtOnce = 10_000
const deletedAtOnce = 1_000

/**
 * Handles the next batch of the operation that waits longest. One transaction changes the links, stores their former
 * values and moves the position, so that a crash repeats the batch or nothing. Returns whether there may be more.
 */
export async function runBatch(platform: Platform, mostBytes = mostWorkspaceBytes): Promise<boolean> {
  let claimed: OperationRow | undefined
  try {
    return await transaction(platform, async ({ db }) => {
      claimed = await claimOperation(db)
      if (!claimed) return false
      const folderAccess = claimed.folder_access ?? undefined
      const ctx = { ...asSystem(platform, claimed.workspace_id), db, folderAccess }
      await advance(ctx, claimed)
      await limitStored(ctx, mostBytes)
      return true
    })
  } catch (error) {
    if (!claimed) throw error
    return handleFailure(platform, claimed, error)
  }
}

/** Deletes the former values of operations that can no longer be undone, and old operations. Returns whether there are more. */
export async function expireOperations(platform: Pick<Platform, 'db' | 'now'>): Promise<boolean> {
  const [ended, created] = [undoableMs, retainedMs].map((ms) => new Date(platform.now().getTime() - ms)) as [Date, Date]
  if (await transaction(platform, ({ db }) => expireLinks(db, ended, expiredAtOnce))) return true
  return (await deleteOperations(platform.db, created, deletedAtOnce)) === deletedAtOnce
}

async function advance(ctx: Ctx, row: OperationRow): Promise<void> {
  const next = await selectNextLinks(ctx.db, row, linksAtOnce)
  const batch = await takeBatch(ctx, next)
  const isLast = next.length < linksAtOnce && batch.length === next.length
  const counted = row.status === 'running' ? await change(ctx, row, batch) : await undo(ctx, row, batch)
  const end = row.status === 'running' ? ('done' as const) : ('undone' as const)
  await updateProgress(ctx.db, ctx.workspaceId, row.number, {
    ...counted,
    processed: row.processed + batch.length,
    position: batch.at(-1)?.number ?? row.position,
    attempts: 0,
    ...(isLast && { status: end, finished_at: ctx.now() }),
  })
}

/** Deletes the former values of the workspace's oldest operations, which then can't be undone, until the others fit. */
async function limitStored({ db, workspaceId }: Ctx, mostBytes: number): Promise<void> {
  let bytes = await sumStored(db, workspaceId)
  while (bytes > mostBytes) {
    const freed = await expireOldest(db, workspaceId)
    if (freed === undefined) return
    bytes -= freed
  }
}

/** The first of the links that fit into memory together. */
async function takeBatch(ctx: Ctx, links: StoredLink[]): Promise<StoredLink[]> {
  const numbers = links.map(({ number }) => number)
  const last = (await linksWithinBytes(ctx, numbers, bytesAtOnce)).at(-1)
  return last === undefined ? links : links.filter(({ number }) => number <= last)
}

async function change(ctx: Ctx, row: OperationRow, batch: StoredLink[]) {
  const change = readChange(ctx, row)
  const numbers = batch.map(({ number }) => number)
  const outcomes = numbers.length === 0 ? [] : await changeManyLinks(ctx, numbers, change)
  const stored = outcomes.filter(({ before, problem }) => before || problem !== undefined)
  const bytes = await storeOutcomes(ctx.db, row, stored.map(toStored))
  if (Number(row.stored_bytes) + bytes > mostStoredBytes)
    throw conflict(`The former values of these links exceed ${mostStoredBytes} bytes. Narrow the filter.`)
  await record(ctx, row, outcomes)
  const [changed, failed] = count(outcomes)
  return {
    changed: row.changed + changed,
    failed: row.failed + failed,
    unchanged: row.unchanged + outcomes.length - changed - failed,
    stored_bytes: row.stored_bytes + BigInt(bytes),
  }
}

async function undo(ctx: Ctx, row: OperationRow, batch: StoredLink[]) {
  const items = batch.flatMap(({ number, before, after }) => (before && after ? { number, before, after } : []))
  const outcomes = items.length === 0 ? [] : await undoManyLinks(ctx, items)
  // A link that is undone has no values left to undo.
  await storeOutcomes(
    ctx.db,
    row,
    outcomes.map(({ number, problem }) => {
      const item = items.find((other) => other.number === number)
      return problem === undefined ? { number: String(number) } : toStored({ ...item, number, problem })
    }),
  )
  await record(ctx, row, outcomes)
  const conflicts = outcomes.filter(({ problem }) => problem !== undefined).length
  return { undone: row.undone + outcomes.length - conflicts, conflicts: row.conflicts + conflicts }
}

function toStored({ number, before, after, problem }: LinkOutcome) {
  return { number: String(number), before, after, problem }
}

function count(outcomes: LinkOutcome[]): [changed: number, failed: number] {
  const failed = outcomes.filter(({ problem }) => problem !== undefined).length
  return [outcomes.filter(({ before }) => before).length, failed]
}

function readChange({ config }: Ctx, row: OperationRow): LinksChange {
  if (row.action === 'delete') return { action: 'delete' }
  if (row.action === 'replaceInUrl')
    return { action: 'replaceInUrl', ...(row.data as { find: string; replaceWith: string }) }
  if (row.action === 'move') return { action: 'update', data: { folderId: row.folder_id } }
  if (row.action !== 'update') return { action: row.action, tagIds: row.tag_ids ?? [] }
  const password = row.sealed_password && unseal(config.ENCRYPTION_KEYS, row.id, row.sealed_password)
  return { action: 'update', data: { ...row.data, ...(password !== null && { password }) } }
}

/** Records the batch in the audit log, so that the history of each link has it. */
async function record(ctx: Ctx, row: OperationRow, outcomes: LinkOutcome[]): Promise<void> {
  const ids = outcomes.flatMap(({ id, problem }) => (id !== undefined && problem === undefined ? id : []))
  if (ids.length === 0) return
  const isUndo = row.status === 'undoing'
  const actor = isUndo && row.undo_actor ? row.undo_actor : { kind: row.actor_kind, id: row.actor_id }
  const credential = (isUndo ? row.undo_actor?.credential : row.credential) ?? undefined
  const fields = {
    ...(row.action === 'replaceInUrl' ? { replaceInUrl: row.data } : row.data),
    ...(row.sealed_password && { password: '' }),
    ...(row.action === 'move' && { folderId: row.folder_id }),
    ...(row.tag_ids && { [row.action]: row.tag_ids }),
  }
  await recordAudit(ctx, {
    operation: isUndo ? 'undoBulkOperation' : 'createBulkOperation',
    actor,
    credential,
    workspaceId: row.workspace_id,
    target: { kind: 'links', ids },
    details: isUndo ? { bulkOperationId: row.id } : { bulkOperationId: row.id, ...fields },
  })
}

/** Ends an operation that can't succeed; another failure is repeated later. */
async function handleFailure(platform: Platform, row: OperationRow, error: unknown): Promise<boolean> {
  const { db, log, now } = platform
  const isRepeated =
    !(error instanceof AppError) && (await countAttempt(db, row.workspace_id, row.number, mostAttempts))
  log.warn({ error, operation: row.id, isRepeated }, 'batch of a bulk operation failed')
  if (isRepeated) return false
  const message = error instanceof AppError ? error.message : 'The server failed several times. Its log has the cause.'
  const failure = { status: 'failed' as const, error: message, finished_at: now() }
  await updateProgress(db, row.workspace_id, row.number, failure)
  return true
}
