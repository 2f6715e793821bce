import type { Platform } from '../../platform/context.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { customerConversions } from '../track/service.ts'
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
    const { db } = platform
    const ids = customers.map(({ customerId }) => customerId)
    await clearMetadata(db, workspaceId, ids)
    const details = await selectCustomerDetails(db, workspaceId, ids)
    const changed = details.map(({ number, detail }) => ({ number, detail: withoutPerson(detail) }))
    if (changed.length > 0) await replaceDetails(db, changed)
    const numbers = await customerConversions({ db, workspaceId }, ids)
    const refused = await selectRefusals(db, workspaceId, numbers)
    const decisions = refused.map(({ number, detail }) => ({ number, detail: withoutPerson(detail) }))
    if (decisions.length > 0) await updateDecisionDetails(db, workspaceId, decisions)
  }
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
