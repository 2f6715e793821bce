import type { LeadResult, SaleResult } from '@tributary/contract/track'
import type { Actor } from '../../platform/context.ts'

/** A publishable key is everybody's: whoever guesses an external id must not learn who that is. */
export function leadFor(actor: Actor, result: LeadResult): LeadResult {
  return actor.isPublishable ? { ...result, customer: { ...result.customer, ...nobody } } : result
}

export function saleFor(actor: Actor, result: SaleResult): SaleResult {
  const { customer } = result
  return actor.isPublishable && customer ? { ...result, customer: { ...customer, ...nobody } } : result
}

const nobody = { name: null, email: null, avatar: null }
