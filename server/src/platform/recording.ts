import type { JsonOperation } from '@tributary/contract/operation'
import type { Change, Ctx, WriteRecord } from './context.ts'
import { transaction } from './postgres.ts'

export type Performed = { params?: unknown; query?: unknown; body?: unknown; result?: unknown }

/** Records what callers do. It is passed in, because platform code can't import the feature that stores it. */
export type Recorder = {
  /** Loads what a record of this caller needs, before the transaction of the write begins. */
  prepare(ctx: Ctx): Promise<void>
  /** Stores the record of the request in the caller's transaction. */
  record(ctx: Ctx, performed: Performed): Promise<void>
  /** Records the first use of a key from a network. */
  noticeNetwork(ctx: Ctx, network: string): Promise<void>
}

type Recorded = Pick<JsonOperation, 'id' | 'path'>

/** Adds to the record of this request what a service changed. Call it in the transaction of the change. */
export function reportChange(ctx: Pick<Ctx, 'record'>, change: Change): void {
  ctx.record?.changes.push(change)
}

export function isRecorded(operation: JsonOperation): boolean {
  return operation.isAudited ?? (operation.method !== 'get' && !operation.scope.endsWith('.read'))
}

/** Begins the record of a request, before the transaction of its write. */
export async function openRecord(
  recorder: Recorder,
  ctx: Ctx,
  { id, path }: Recorded,
  network: string,
): Promise<WriteRecord> {
  await recorder.prepare(ctx)
  return { operation: id, noun: path.split('/')[1] ?? '', network, changes: [], isWritten: false }
}

/** Begins an export and records it before its first byte is sent, with what the service reported. */
export async function recordExport<R>(
  recorder: Recorder,
  ctx: Ctx,
  operation: Recorded,
  { query, network }: { query: object; network: string },
  begin: (ctx: Ctx) => Promise<R>,
): Promise<R> {
  const record = await openRecord(recorder, ctx, operation, network)
  const exported = await begin({ ...ctx, record })
  await recorder.record({ ...ctx, record }, { body: query })
  return exported
}

/**
 * Runs a write and records it in one transaction, so that both are stored or neither. With `isGrouped`, the service
 * stores the record in the statement or transaction that several requests share.
 */
export async function recordWrite<R>(
  recorder: Recorder,
  ctx: Ctx & { record: WriteRecord },
  { isGrouped, ...performed }: Performed & { isGrouped?: boolean },
  work: (ctx: Ctx) => Promise<R>,
): Promise<R> {
  const { record } = ctx
  const recorded = async (ctx: Ctx) => {
    // After a deadlock, the work runs again from the start.
    record.changes.length = 0
    const result = await work(ctx)
    if (!record.isWritten) await recorder.record(ctx, { ...performed, result })
    return result
  }
  return isGrouped ? recorded(ctx) : transaction(ctx, recorded)
}
