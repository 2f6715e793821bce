import { chunks } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { type LedgerEntry, post } from '../ledger/service.ts'
import { addPartnerTotals } from '../partners/service.ts'
import { addToPayouts } from '../payouts/service.ts'
import type { Batch, Changes } from './batch.ts'
import type { Commission } from './commission.ts'
import { type CommissionEvent, commissionsMessage } from './messages.ts'
import { writeMoves } from './move.ts'
import { insertCommissions, updateCommissions } from './rows-store.ts'
import { addSpending, insertBindings, insertDecisions, insertKeys } from './store.ts'

const eventsPerMessage = 100

/** Writes everything that was decided. The caller's transaction has locked the partners and payouts. */
export async function writeChanges(ctx: Ctx, changes: Changes, spending: Batch['spending'] = new Map()): Promise<void> {
  const { db, workspaceId } = ctx
  const changed = [...changes.changed]
  const spent = [...spending.values()].filter(({ added }) => added !== 0n)
  const payouts = [...changes.payouts].map(([number, amount]) => ({ number, amount }))
  await addToPayouts(db, workspaceId, payouts)
  if (changes.created.length > 0) await insertCommissions(db, workspaceId, changes.created)
  if (changed.length > 0) await updateCommissions(db, workspaceId, changed)
  if (changes.keys.length > 0) await insertKeys(db, changes.keys)
  if (changes.bindings.length > 0) await insertBindings(db, workspaceId, changes.bindings)
  if (changes.decisions.length > 0) await insertDecisions(db, workspaceId, changes.decisions)
  if (spent.length > 0) await addSpending(db, spent)
  await addPartnerTotals(db, listTotals(changes))
  await writeMoves(ctx, [...changes.moves.values()])
  await post(db, workspaceId, changes.postings.map(toEntry))
  const events = [
    ...changes.created.map((commission) => ({ event: 'commission.created' as const, ...commission })),
    ...changed.map((commission) => ({ event: 'commission.updated' as const, ...commission })),
  ]
  await publishEvents(ctx, events)
}

function listTotals({ totals }: Changes) {
  return [...totals].map(([partnerNumber, { leads, conversions, sales, saleAmount, commissions }]) => {
    return { partnerNumber, leads, conversions, sales, sale_amount: saleAmount, commissions }
  })
}

function toEntry({ commission, ...posted }: Changes['postings'][number]): LedgerEntry {
  return { ...posted, currency: commission.currency, commissionNumber: commission.number ?? undefined }
}

type CommissionChange = Pick<CommissionEvent, 'event'> & Pick<Commission, 'id' | 'partnerNumber'>

/** Publishes events of commissions, a hundred per message, in the caller's transaction. */
export async function publishEvents(ctx: Ctx, changes: CommissionChange[]): Promise<void> {
  if (changes.length === 0) return
  const createdAt = ctx.now().toISOString()
  const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
  const messages = [...chunks(changes, eventsPerMessage)].map((some) => {
    const events = some.map(({ event, id, partnerNumber }) => {
      return { id: newId('evt'), createdAt, event, commissionId: `cm_${id}`, partnerNumber: String(partnerNumber) }
    })
    return commissionsMessage({ workspaceId: ctx.workspaceId, events }, partition)
  })
  await publish(ctx, ...messages)
}
