import type { CommissionPatch, Commission as Presented, SettableStatus } from '@tributary/contract/commissions'
import type { Ctx } from '../../platform/context.ts'
import { badRequest, invalid } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { convert, exchangeRates } from '../money/service.ts'
import { recordActivities } from '../partners/service.ts'
import { salesLeft } from '../track/service.ts'
import { type Changes, noChanges } from './batch.ts'
import { type Commission, isFrozen, owedAccount } from './commission.ts'
import { judgeMoves } from './judge-moves.ts'
import { selectCommissionsById } from './list-store.ts'
import { lockCommissions } from './locked.ts'
import { presentCommissions } from './present.ts'
import { earningsFor } from './refund.ts'
import { updateDetails } from './rows-store.ts'
import {
  correctCommission,
  endCommission,
  releaseCommission,
  restoreCommission,
  returnToPending,
} from './transitions.ts'
import { writeChanges } from './write.ts'

const lastNumber = 2n ** 63n - 1n

/** Changes a commission. A new status beats new amounts. */
export async function updateCommission(ctx: Ctx, id: string, patch: CommissionPatch | undefined): Promise<Presented> {
  return transaction(ctx, async (ctx) => {
    const { commissions, partners } = await lockCommissions(ctx, [id])
    const [commission] = commissions as [Commission]
    const changes = noChanges()
    const before = commission.status
    const old = pickAmounts(commission)
    if (patch?.status) setStatus(changes, commission, patch.status)
    else if (patch) await setAmounts(ctx, changes, commission, patch)
    await judgeMoves(ctx, changes, partners.values())
    await write(ctx, changes, [{ commission, before }])
    reportChange(ctx, { id, before: old, after: pickAmounts(commission) })
    const rows = await selectCommissionsById(ctx.db, ctx.workspaceId, [commission.id])
    return (await presentCommissions(ctx, rows))[0] as Presented
  })
}

/** Sets the status of several commissions: all of them, or none. */
export async function bulkUpdateCommissions(ctx: Ctx, input: { commissionIds: string[]; status: SettableStatus }) {
  const ids = [...new Set(input.commissionIds)]
  return transaction(ctx, async (ctx) => {
    const { commissions, partners } = await lockCommissions(ctx, ids)
    const changes = noChanges()
    const changed = commissions.map((commission) => ({ commission, before: commission.status }))
    for (const commission of commissions) setStatus(changes, commission, input.status)
    await judgeMoves(ctx, changes, partners.values())
    await write(ctx, changes, changed)
    for (const { commission, before } of changed) {
      reportChange(ctx, { id: `cm_${commission.id}`, before: { status: before }, after: { status: commission.status } })
    }
    const byId = new Map(commissions.map((commission) => [`cm_${commission.id}`, commission]))
    return ids.map((id) => ({ id, status: (byId.get(id) as Commission).status }))
  })
}

function pickAmounts({ status, amount, earnings }: Commission) {
  return { status, amount, earnings }
}

function setStatus(changes: Changes, commission: Commission, status: SettableStatus): void {
  requireChangeable(commission)
  if (commission.status === status) throw badRequest(`Commission cm_${commission.id} is ${status} already.`)
  if (status !== 'pending') endCommission(changes, commission, status)
  else if (commission.status === 'hold') releaseCommission(changes, commission)
  else if (commission.status === 'processed') returnToPending(changes, commission)
  else restore(changes, commission)
}

function restore(changes: Changes, commission: Commission): void {
  if (commission.earnings === 0n)
    throw badRequest(`The sale of commission cm_${commission.id} is fully refunded, so that it can't be pending.`)
  restoreCommission(changes, commission)
}

async function setAmounts(ctx: Ctx, changes: Changes, commission: Commission, patch: CommissionPatch): Promise<void> {
  const change = patch.modifySaleAmount ?? patch.modifyAmount
  const given = patch.saleAmount ?? patch.amount
  const isAmount = change !== undefined || given !== undefined
  if (!isAmount && patch.earnings === undefined) return
  requireChangeable(commission)
  if (!owedAccount(commission)) {
    throw badRequest(`Commission cm_${commission.id} is ${commission.status}. Set its status to pending first.`)
  }
  if (isAmount && commission.type !== 'sale') {
    throw badRequest(`Commission cm_${commission.id} is of the type ${commission.type}, which has no sale amount.`)
  }
  const amount = isAmount ? newAmount(ctx, commission, patch) : commission.amount
  const of = await saleAmountLeft(ctx, commission)
  const set = patch.earnings === undefined ? null : BigInt(patch.earnings)
  const edit = { amount: String(amount), of: String(of), earnings: set === null ? null : String(set) }
  const edited = { ...commission, detail: { ...commission.detail, edit } }
  const earnings = set ?? earningsFor(edited, amount)
  returnToPending(changes, commission)
  if (earnings === 0n) return endCommission(changes, commission, 'refunded')
  commission.detail = edited.detail
  correctCommission(changes, commission, amount, earnings)
}

/** The new sale amount in the program's currency. */
function newAmount(ctx: Ctx, { amount, currency }: Commission, patch: CommissionPatch): bigint {
  const change = patch.modifySaleAmount ?? patch.modifyAmount
  const given = BigInt(change ?? patch.saleAmount ?? patch.amount ?? 0)
  const converted = convert({ amount: given, currency: patch.currency }, currency, exchangeRates(ctx))
  if (!converted) throw invalid(`\`currency\` in the body is ${patch.currency}, which has no exchange rate.`)
  const sum = change === undefined ? converted.amount : amount + converted.amount
  return sum < 0n ? 0n : sum
}

async function saleAmountLeft(ctx: Ctx, { conversionNumber, amount }: Commission): Promise<bigint> {
  if (conversionNumber === null) return amount
  const sales = await salesLeft(ctx, [{ number: conversionNumber, before: lastNumber }])
  return sales.get(conversionNumber)?.left ?? amount
}

function requireChangeable(commission: Commission): void {
  if (commission.status === 'paid') {
    throw badRequest(
      `Commission cm_${commission.id} is paid. Create a custom commission with a negative amount instead.`,
    )
  }
  if (isFrozen(commission)) {
    throw badRequest(
      `The payout of commission cm_${commission.id} is ${commission.payoutStatus}. Create a custom commission with a negative amount instead.`,
    )
  }
}

async function write(ctx: Ctx, changes: Changes, changed: { commission: Commission; before: string }[]): Promise<void> {
  await writeChanges(ctx, changes)
  const touched = changed.filter(({ commission }) => changes.changed.has(commission))
  if (touched.length === 0) return
  await updateDetails(
    ctx.db,
    touched.map(({ commission }) => commission),
  )
  await recordActivities(
    ctx,
    touched.map(({ commission, before }) => ({
      partnerNumber: commission.partnerNumber,
      kind: 'commission.updated',
      detail: {
        commissionId: `cm_${commission.id}`,
        from: before,
        to: commission.status,
        earnings: String(commission.earnings),
      },
    })),
  )
}
