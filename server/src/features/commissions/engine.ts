import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { judgeFailure } from '../../platform/refusal.ts'
import { type ClaimedPartner, claimPartners } from '../partners/service.ts'
import { hasSharedCap } from '../rewards/service.ts'
import { conversionsByNumber } from '../track/service.ts'
import type { QueuedEvent } from './batch.ts'
import { decideBatch } from './decide-batch.ts'
import { loadBatch, loadSpending } from './load.ts'
import {
  deleteQueued,
  lockOrder,
  postponeQueued,
  type QueueRow,
  refuseQueued,
  releaseQueued,
  selectQueuedWorkspaces,
  selectReady,
  selectUndecided,
} from './queue-store.ts'
import { splitUndecidable } from './wait.ts'
import { writeChanges } from './write.ts'

const mostWorkspaces = 100
/** Turns that a process takes at the same time. */
const lanes = 2
const mostReleased = 2_000
/** Events of one turn, and how long all turns of a round take together when every workspace has a backlog. */
const fewestEvents = 250
const mostEvents = 1_000
const roundMs = 1_000
/** How often a workspace's turn looks further because other transactions have locked all partners it found. */
const mostLooks = 3
/** Transactions of one turn that may fail before the rest of its events is postponed. */
const mostFailures = 20

/** Decides what queued leads, sales and refunds earn, until none is left that this process can decide now. */
export function openEngine(platform: Platform): (signal: AbortSignal) => Promise<void> {
  const pace: Pace = { perMs: 1 }
  return async (signal) => {
    while (!signal.aborted && (await decideSome(platform, signal, pace)) > 0);
  }
}

/** How many events the last turns decided in a millisecond. */
type Pace = { perMs: number }

/** Decides some events of each workspace in turn. Returns how many were decided or postponed. */
export async function decideSome(platform: Platform, signal?: AbortSignal, pace: Pace = { perMs: 1 }): Promise<number> {
  await releaseQueued(platform.db, mostReleased)
  let moved = 0
  for (let after: string | undefined = ''; after !== undefined && !signal?.aborted; ) {
    const workspaces = await selectQueuedWorkspaces(platform.db, after, mostWorkspaces)
    // With one workspace, both lanes take its events: while one waits for PostgreSQL, the other computes.
    const turns = (workspaces.length === 1 ? [...workspaces, ...workspaces] : workspaces).values()
    const share = Math.ceil((pace.perMs * roundMs) / Math.max(1, workspaces.length))
    const count = Math.min(mostEvents, Math.max(fewestEvents, share))
    const runLane = async () => {
      for (const workspaceId of turns) {
        const startedAt = performance.now()
        const decided = await takeTurn(asSystem(platform, workspaceId), count)
        if (decided >= fewestEvents) pace.perMs = (pace.perMs + decided / (performance.now() - startedAt)) / 2
        moved += decided
      }
    }
    await Promise.all(Array.from({ length: lanes }, runLane))
    after = workspaces.length < mostWorkspaces ? undefined : workspaces.at(-1)
  }
  return moved
}

/** Decides the oldest events of a workspace whose partners no other transaction has locked. */
async function takeTurn(ctx: Ctx, count: number): Promise<number> {
  const turn: Turn = { failures: 0, locked: new Set(), stopped: new Set() }
  for (let look = 1; look <= mostLooks; look++) {
    const rows = await selectReady(ctx.db, ctx.workspaceId, { withoutPartners: [...turn.locked], count })
    if (rows.length === 0) return 0
    const moved = await decideOrPostpone(ctx, rows, turn)
    if (moved > 0 || turn.locked.size === 0) return moved
  }
  return 0
}

/** `stopped` are partners with events that wait for the next turn, so that no later event of theirs comes before. */
type Turn = { failures: number; locked: Set<string>; stopped: Set<string> }

/** Decides events. After a failure, tries each half, so that one event does not stop the others. */
async function decideOrPostpone(ctx: Ctx, rows: QueueRow[], turn: Turn): Promise<number> {
  try {
    return await decideRows(ctx, rows, turn)
  } catch (error) {
    if (judgeFailure(error) === 'unavailable') throw error
    turn.failures += 1
    if (rows.length > 1 && turn.failures < mostFailures) {
      const half = Math.ceil(rows.length / 2)
      const first = await decideOrPostpone(ctx, rows.slice(0, half), turn)
      return first + (await decideOrPostpone(ctx, rows.slice(half), turn))
    }
    const [row] = rows
    ctx.log.error(
      { error, workspace: ctx.workspaceId, partner: row?.partner_id, events: rows.length },
      'commissions not decided, will retry',
    )
    const conversions = await conversionsByNumber(
      ctx,
      rows.map(({ conversion_number }) => conversion_number),
    )
    const failed = conversions.map(({ number, customer_id }) => {
      return { number, customerId: customer_id, waitsFor: 'failed' as const }
    })
    await postponeQueued(ctx.db, ctx.workspaceId, failed)
    return failed.length
  }
}

/** Decides those of the events whose partners no other transaction has locked, in one transaction. */
function decideRows(ctx: Ctx, rows: QueueRow[], turn: Turn): Promise<number> {
  return transaction(ctx, async (ctx) => {
    const { db, workspaceId } = ctx
    const isShared = await hasSharedCap(db, workspaceId)
    if (isShared && !(await lockOrder(db, workspaceId))) return 0
    const ids = [...new Set(rows.map(({ partner_id }) => partner_id))]
    const { partners, byId } = await claimPartners(db, workspaceId, ids, { waits: isShared })
    const unknown = rows
      .filter(({ partner_id }) => !byId.has(partner_id))
      .map(({ conversion_number }) => conversion_number)
    const refused = unknown.length > 0 ? await refuseQueued(db, workspaceId, unknown, 'not_enrolled') : 0
    const claimed = new Set(partners.map(({ number }) => number))
    for (const [id, number] of byId) if (!claimed.has(number)) turn.locked.add(id)
    const isMine = (id: string) => claimed.has(byId.get(id) ?? 0n) && !turn.stopped.has(id)
    const mine = rows.filter(({ partner_id }) => isMine(partner_id))
    if (mine.length === 0) return refused
    const { numbers, events } = await readEvents(ctx, mine, byId)
    if (numbers.length === 0) return refused
    const batch = await loadBatch(ctx, earners(partners, events), events)
    const { decidable, waiting } = await splitUndecidable(ctx, batch, events)
    await loadSpending(ctx, batch, decidable)
    const changes = decideBatch(batch, decidable, { isShared })
    await writeChanges(ctx, changes, batch.spending)
    for (const [id, number] of byId) if (changes.stopped.has(number)) turn.stopped.add(id)
    if (waiting.length > 0) await postponeQueued(db, workspaceId, waiting)
    const queued = new Set([...waiting.map(({ number }) => number), ...changes.undecided])
    const done = numbers.filter((number) => !queued.has(number))
    await deleteQueued(db, workspaceId, done)
    return refused + done.length + waiting.length
  })
}

/** The partners that have one of the events. */
function earners(partners: ClaimedPartner[], events: QueuedEvent[]): ClaimedPartner[] {
  const numbers = new Set(events.map(({ partnerNumber }) => partnerNumber))
  return partners.filter(({ number }) => numbers.has(number))
}

/** Reads events that are still queued, now that their partners are locked. */
async function readEvents(
  ctx: Ctx,
  rows: QueueRow[],
  byId: Map<string, bigint>,
): Promise<{ numbers: bigint[]; events: QueuedEvent[] }> {
  const partnerByNumber = new Map(rows.map((row) => [row.conversion_number, byId.get(row.partner_id)]))
  const numbers = await selectUndecided(ctx.db, ctx.workspaceId, [...partnerByNumber.keys()])
  const conversions = numbers.length === 0 ? [] : await conversionsByNumber(ctx, numbers)
  const events = conversions.map((conversion) => ({
    conversion,
    partnerNumber: partnerByNumber.get(conversion.number) as bigint,
  }))
  return { numbers, events }
}
