import type { Ctx, Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { findPartnersById, lockManyPartners } from '../partners/service.ts'
import { customerConversions, customerPartners } from '../track/service.ts'
import type { Detail } from './commission.ts'
import {
  clearMetadata,
  replaceDetails,
  selectCustomerDetails,
  selectRefusals,
  updateDecisionDetails,
} from './erase-store.ts'

/** Erases what commissions copied from the events of erased customers. Amounts and the names of conditions stay. */
export async function eraseCustomers(platform: Pick<Platform, 'db'>, erased: CustomerErased[]): Promise<void> {
  for (const [workspaceId, customers] of Map.groupBy(erased, (customer) => customer.workspaceId)) {
    const ids = customers.map(({ customerId }) => customerId)
    await transaction(platform, ({ db }) => eraseCopies({ db, workspaceId }, ids))
  }
}

async function eraseCopies(ctx: Pick<Ctx, 'db' | 'workspaceId'>, customerIds: string[]): Promise<void> {
  const { db, workspaceId } = ctx
  await awaitDecisions(ctx, customerIds)
  await clearMetadata(db, workspaceId, customerIds)
  const details = await selectCustomerDetails(db, workspaceId, customerIds)
  const changed = details.map(({ number, detail }) => ({ number, detail: withoutPerson(detail) }))
  if (changed.length > 0) await replaceDetails(db, changed)
  const numbers = await customerConversions(ctx, customerIds)
  const refused = await selectRefusals(db, workspaceId, numbers)
  const decisions = refused.map(({ number, detail }) => ({ number, detail: withoutPerson(detail) }))
  if (decisions.length > 0) await updateDecisionDetails(db, workspaceId, decisions)
}

/**
 * Locks the partners of the customers' events, which waits for decisions that began before the erasure and copied metadata. Later
 * ones know that the customer is erased.
 */
async function awaitDecisions(ctx: Pick<Ctx, 'db' | 'workspaceId'>, customerIds: string[]): Promise<void> {
  const partners = await findPartnersById(ctx, await customerPartners(ctx, customerIds))
  const owners = [...partners.values()].map(({ number }) => number)
  if (owners.length > 0) await lockManyPartners(ctx.db, ctx.workspaceId, owners)
}

/** Clears the values of conditions on the customer and on metadata. */
function withoutPerson(detail: Detail): Detail {
  const { why } = detail
  if (!why) return detail
  const conditions = why.conditions.map((condition) => {
    const isPersonal = condition.entity === 'customer' || condition.attribute.startsWith('metadata')
    return isPersonal ? { ...condition, actual: null } : condition
  })
  return { ...detail, why: { ...why, conditions } }
}
