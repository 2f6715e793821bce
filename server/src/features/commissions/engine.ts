import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { judgeFailure } from '../../platform/refusal.ts'
import { claimPartners, type Partner } from '../partners/service.ts'
import { conversionsByNumber } from '../track/service.ts'
import type { QueuedEvent } from './batch.ts'
import { decideBatch } from './decide-batch.ts'
import { loadBatch } from './load.ts'
import { deleteQueued, refuseQueued, selectOldestQueued, selectQueued } from './store.ts'
import { withoutUndecidable } from './wait.ts'
import { writeChanges } from './write.ts'

const mostPeeked = 1_000
const mostEvents = 1_000
const setAsideMs = 60_000
const waitMs = 1_000

/** Partners that are left alone until a time: their last batch failed, or their events wait for a click. */
type SetAside = Map<string, number>

/** Decides queued leads, sales and refunds until none is left that this process can decide now. */
export function openEngine(platform: Platform): (signal: AbortSignal) => Promise<void> {
  const setAside: SetAside = new Map()
  return async (signal) => {
    while (!signal.aborted && (await decideSome(platform, setAside)) > 0);
  }
}

/** Decides one batch of events of one workspace. Returns how many. */
export async function decideSome(platform: Platform, setAside: SetAside = new Map()): Promise<number> {
  for (const [id, until] of setAside) if (until < Date.now()) setAside.delete(id)
  const oldest = await selectOldestQueued(platform.db, [...setAside.keys()], mostPeeked)
  for (const [workspaceId, rows] of Map.groupBy(oldest, ({ workspace_id }) => workspace_id)) {
    const ids = [...new Set(rows.map(({ partner_id }) => partner_id))]
    const decided = await decideOrSetAside(asSystem(platform, workspaceId), ids, setAside)
    if (decided > 0) return decided
  }
  return 0
}

/** Decides events of these partners. After a failure, tries each half, so that one partner does not stop the others. */
async function decideOrSetAside(ctx: Ctx, partnerIds: string[], setAside: SetAside): Promise<number> {
  try {
    const { decided, waiting } = await decidePartners(ctx, partnerIds)
    for (const id of waiting) setAside.set(id, Date.now() + waitMs)
    return decided
  } catch (error) {
    if (judgeFailure(error) === 'unavailable') throw error
    const half = Math.ceil(partnerIds.length / 2)
    if (partnerIds.length > 1) {
      const first = await decideOrSetAside(ctx, partnerIds.slice(0, half), setAside)
      return first + (await decideOrSetAside(ctx, partnerIds.slice(half), setAside))
    }
    const [partner = ''] = partnerIds
    setAside.set(partner, Date.now() + setAsideMs)
    ctx.log.error({ error, partner, workspace: ctx.workspaceId }, 'commissions of a partner not decided, will retry')
    return 0
  }
}

/** Decides the oldest events of those partners that no other transaction has locked, in one transaction. */
function decidePartners(ctx: Ctx, partnerIds: string[]): Promise<{ decided: number; waiting: string[] }> {
  return transaction(ctx, async (ctx) => {
    const { db, workspaceId } = ctx
    const { partners, byId } = await claimPartners(db, workspaceId, partnerIds)
    const unknown = partnerIds.filter((id) => !byId.has(id))
    const refused = unknown.length > 0 ? await refuseQueued(db, workspaceId, unknown, 'not_enrolled') : 0
    const events = await readEvents(ctx, partners, byId)
    if (events.length === 0) return { decided: refused, waiting: [] }
    const batch = await loadBatch(ctx, earners(partners, events), events)
    const { decidable, waiting } = withoutUndecidable(batch, events)
    await writeChanges(ctx, decideBatch(batch, decidable), batch.spending)
    const numbers = decidable.map(({ conversion }) => conversion.number)
    await deleteQueued(db, workspaceId, numbers)
    return { decided: refused + decidable.length, waiting }
  })
}

/** The partners that have one of the events. */
function earners(partners: Partner[], events: QueuedEvent[]): Partner[] {
  const numbers = new Set(events.map(({ partnerNumber }) => partnerNumber))
  return partners.filter(({ number }) => numbers.has(number))
}

async function readEvents(ctx: Ctx, partners: Partner[], byId: Map<string, bigint>): Promise<QueuedEvent[]> {
  const locked = new Set(partners.map(({ number }) => number))
  const ids = [...byId].flatMap(([id, number]) => (locked.has(number) ? [id] : []))
  if (ids.length === 0) return []
  const queued = await selectQueued(ctx.db, ctx.workspaceId, ids, mostEvents)
  const partnerByNumber = new Map(
    queued.map(({ conversion_number, partner_id }) => [conversion_number, byId.get(partner_id)]),
  )
  const conversions = await conversionsByNumber(
    ctx,
    queued.map(({ conversion_number }) => conversion_number),
  )
  return conversions.map((conversion) => ({
    conversion,
    partnerNumber: partnerByNumber.get(conversion.number) as bigint,
  }))
}
