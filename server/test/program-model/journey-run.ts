import { randomUUID } from 'node:crypto'
import type { RewardInput } from '@tributary/contract/reward-terms'
import { sql } from 'kysely'
import { clickKeys, mintClickId } from '../../src/features/click-ids/service.ts'
import { createCommission } from '../../src/features/commissions/create.ts'
import { openEngine } from '../../src/features/commissions/engine.ts'
import { runMaturing } from '../../src/features/commissions/mature.ts'
import { cancelUnpaid, mergePartnerMoney, restoreCanceled } from '../../src/features/commissions/service.ts'
import { updateCommission } from '../../src/features/commissions/update.ts'
import { lockCustomer } from '../../src/features/customers/service.ts'
import { addToGroup } from '../../src/features/enrolments/groups.ts'
import {
  archivePartner,
  banPartner,
  deactivatePartner,
  reactivatePartner,
  unbanPartner,
} from '../../src/features/enrolments/transitions.ts'
import { updateGroup } from '../../src/features/groups/service.ts'
import { createReward, deleteReward, updateReward } from '../../src/features/rewards/manage.ts'
import { trackLead } from '../../src/features/track/leads.ts'
import { trackRefund } from '../../src/features/track/refunds.ts'
import { trackSale } from '../../src/features/track/sales.ts'
import { recordLeadByHand, recordSaleByHand } from '../../src/features/track/service.ts'
import type { Ctx } from '../../src/platform/context.ts'
import { AppError } from '../../src/platform/errors.ts'
import { transaction } from '../../src/platform/postgres.ts'
import type { Owner, Played, PlayedPhase } from './journey.ts'
import { readCommissions, setTimes } from './journey-store.ts'
import { ownerKey, type World, type WorldCustomer, type WorldPartner } from './journey-world.ts'

const money = { cancelUnpaid, restoreCanceled, merge: mergePartnerMoney }

/** Runs a phase against the product: the steps of all journeys at once, then the worker. */
export async function runPhase(worlds: World[], { at, steps, isMatured, isDecided }: PlayedPhase): Promise<void> {
  await Promise.all(worlds.map((world, index) => runStep(world, at, steps[index] ?? null)))
  const [world] = worlds
  if (!world) return
  const ctx = { ...world.ctx, now: () => at }
  if (isMatured) await runMaturing(ctx, at, { workspaceIds: [ctx.workspaceId] })
  if (isDecided) await openEngine(ctx)(new AbortController().signal)
}

const refusals = ['bad_request', 'unprocessable_entity']

/** Throws when the product refuses what the model allows, or the reverse. */
async function runStep(world: World, at: Date, step: Played | null): Promise<void> {
  if (!step) return
  const refusal = await runAction(world, { ...world.ctx, now: () => at }, step).then(
    () => undefined,
    (error) => {
      if (error instanceof AppError && refusals.includes(error.code)) return error
      throw new Error(`The product failed in ${JSON.stringify(step)}`, { cause: error })
    },
  )
  if ((refusal !== undefined) === step.isRefused) return
  const outcome = refusal ? `refused: ${refusal.message}` : 'allowed'
  throw new Error(`The product ${outcome}, the model did not: ${JSON.stringify(step)}`)
}

async function runAction(world: World, ctx: Ctx, action: Played): Promise<unknown> {
  const findPartner = ({ partner }: { partner: number }) => world.partners[partner] as WorldPartner
  switch (action.kind) {
    case 'sale':
      return recordSale(world, ctx, action)
    case 'lead':
      return recordLead(world, ctx, action)
    case 'refund': {
      const amount = action.amount === null ? {} : { amount: action.amount }
      world.events += 1
      return trackRefund(ctx, { invoiceId: invoiceId(world, action.sale), refundId: randomUUID(), ...amount } as never)
    }
    case 'reward':
      return setReward(world, ctx, action)
    case 'endReward': {
      const id = world.rewards.get(ownerKey(action.owner, action.event)) as string
      world.rewards.delete(ownerKey(action.owner, action.event))
      await deleteReward(ctx, id)
      return setTimes(ctx, id)
    }
    case 'move':
      return addToGroup(ctx, world.groups[action.group]?.id as string, [findPartner(action).id])
    case 'holding':
      return updateGroup(ctx, world.groups[action.group]?.id as string, { holdingPeriodDays: action.days as 0 })
    case 'status':
      return changeStatus(ctx, { partnerId: findPartner(action).id }, action.change)
    case 'custom': {
      const { amount } = action
      return createCommission(ctx, {
        type: 'custom',
        partnerId: findPartner(action).id,
        amount,
        description: 'by hand',
      })
    }
    case 'patch': {
      const id = (await readCommissions([world]))[0]?.get(action.commission)?.id
      return updateCommission(ctx, id ?? `no commission ${action.commission}`, action.patch as never)
    }
    case 'freeze':
      return freeze(ctx, findPartner(action), action.isPaid)
  }
}

async function recordSale(world: World, ctx: Ctx, action: Extract<Played, { kind: 'sale' }>): Promise<void> {
  const customer = world.customers[action.customer] as WorldCustomer
  const { link } = world.partners[action.partner] as WorldPartner
  const { amount, currency, metadata } = action
  const click = customer.hasLead ? {} : { clickId: mintClick(ctx, link.number) }
  if (!customer.hasLead) world.events += 1
  customer.hasLead = true
  const number = world.events
  world.events += 1
  const sale = {
    amount,
    currency,
    metadata,
    invoiceId: invoiceId(world, number),
    eventName: 'Purchase',
    paymentProcessor: 'custom' as const,
  }
  if (customer.isTracked) {
    await trackSale(ctx, { ...sale, ...click, customerExternalId: customer.externalId } as never)
    return
  }
  await transaction(ctx, async (ctx) => {
    const row = await lockCustomer(ctx, customer.id)
    if (row) await recordSaleByHand(ctx, { ...sale, link, at: ctx.now(), customer: row })
  })
}

async function recordLead(world: World, ctx: Ctx, action: Extract<Played, { kind: 'lead' }>): Promise<void> {
  const customer = world.customers[action.customer] as WorldCustomer
  const { link } = world.partners[action.partner] as WorldPartner
  const { metadata, quantity } = action
  const eventName = `lead ${world.events}`
  world.events += 1
  customer.hasLead = true
  if (customer.isTracked) {
    const clickId = mintClick(ctx, link.number)
    const lead = { clickId, eventName, eventQuantity: quantity, metadata, customerExternalId: customer.externalId }
    await trackLead(ctx, { ...lead, mode: 'async' } as never)
    return
  }
  await transaction(ctx, async (ctx) => {
    const row = await lockCustomer(ctx, customer.id)
    if (row) await recordLeadByHand(ctx, { eventName, metadata, link, at: ctx.now(), customer: row })
  })
}

/** Journeys share a workspace, but not their invoices. */
function invoiceId({ customers }: World, sale: number): string {
  return `${customers[0]?.id} ${sale}`
}

function mintClick(ctx: Ctx, linkNumber: bigint): string {
  const at = ctx.now().getTime()
  return mintClickId(clickKeys(ctx.config), { ip: '10.0.0.1', userAgent: 'test', at, linkNumber })
}

async function setReward(world: World, ctx: Ctx, action: Extract<Played, { kind: 'reward' }>): Promise<void> {
  const { owner, applyTo } = action
  const { event, ...terms } = fullTerms(action.terms)
  const key = ownerKey(owner, event)
  const known = world.rewards.get(key)
  const id = known ?? (await createReward(ctx, { event, ...terms, ...ownerIds(world, owner) } as never)).id
  // Descriptions differ, so that each edit makes a version.
  if (known) await updateReward(ctx, id, { ...terms, applyTo, description: randomUUID() } as never)
  else world.rewardIds.push(id)
  world.rewards.set(key, id)
  await setTimes(ctx, id)
}

/** Terms that replace all earlier ones: what is left out is null. */
function fullTerms(terms: RewardInput): RewardInput {
  const { spendLimitAmount = null, spendLimitInterval = null, spendLimitScope = null, maxDuration, ...rest } = terms
  const duration = terms.event === 'sale' ? { maxDuration: maxDuration ?? null } : {}
  return { ...rest, ...duration, spendLimitAmount, spendLimitInterval, spendLimitScope }
}

function ownerIds(world: World, owner: Owner) {
  if ('group' in owner) return { groupId: world.groups[owner.group]?.id }
  return { partnerId: world.partners[owner.partner]?.id }
}

function changeStatus(ctx: Ctx, name: { partnerId: string }, change: string): Promise<unknown> {
  switch (change) {
    case 'ban':
      return banPartner(ctx, money, { ...name, reason: 'fraud' })
    case 'deactivate':
      return deactivatePartner(ctx, name)
    case 'reactivate':
      return reactivatePartner(ctx, name)
    case 'archive':
    case 'unarchive':
      return archivePartner(ctx, { ...name, archived: change === 'archive' })
    default:
      return unbanPartner(ctx, money, { ...name, restoreCommissions: change === 'restore' })
  }
}

/** Sending money is not part of the product yet, so that the test moves the payout on. */
async function freeze({ db, workspaceId }: Ctx, { number }: WorldPartner, isPaid: boolean): Promise<void> {
  const status = isPaid ? 'completed' : 'processing'
  const sent = sql`UPDATE payouts SET status = ${status}
    WHERE workspace_id = ${workspaceId} AND partner_number = ${number} AND status = 'pending' RETURNING number`
  const paid = sql`UPDATE commissions SET status = 'paid' WHERE payout_number IN (SELECT number FROM sent)`
  await sql`WITH sent AS (${sent}), paid AS (${isPaid ? paid : sql`SELECT 1`}) SELECT 1`.execute(db)
}
