import { choiceAt, type RewardVersion } from '../rewards/service.ts'
import { type Batch, pairKey, type QueuedEvent } from './batch.ts'

/**
 * Whether the terms depend on the customer's country, which is not known yet because the click is still on its way to
 * ClickHouse. Tracking resolves each click within a day.
 */
export function isCountryUnknown(batch: Batch, { conversion, partnerNumber }: QueuedEvent): boolean {
  const { kind, customer_id } = conversion
  if (kind === 'refund' || conversion.click_facts_at !== null || batch.customers.get(customer_id)?.country) return false
  const choice = choiceAt(batch.timelines.get(partnerNumber)?.[kind], conversion.created_at)
  const binding = kind === 'sale' ? batch.pairs.get(pairKey(partnerNumber, customer_id))?.binding : null
  const versions = [choice.partner, choice.group, binding?.version, ...(binding?.later ?? [])]
  return versions.some((version) => version && usesCountry(version))
}

function usesCountry({ terms }: RewardVersion): boolean {
  return terms.modifiers.some(({ conditions }) =>
    conditions.some(({ entity, attribute }) => entity === 'customer' && attribute === 'country'),
  )
}
