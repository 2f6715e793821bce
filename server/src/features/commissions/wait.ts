import type { RewardVersion } from '../rewards/service.ts'
import { type Batch, pairKey, type QueuedEvent } from './batch.ts'

/**
 * Leaves out events whose terms depend on the customer's country while it is not known, because the click is still on
 * its way to ClickHouse, and later events of the same customer. Tracking resolves each click within a day.
 */
export function withoutUndecidable(batch: Batch, events: QueuedEvent[]) {
  const waiting = new Set<string>()
  const partners = new Set<string>()
  const decidable = events.filter(({ conversion, partnerNumber }) => {
    const key = pairKey(partnerNumber, conversion.customer_id)
    const isUnknown = conversion.click_facts_at === null && !batch.customers.get(conversion.customer_id)?.country
    if (isUnknown && conversion.kind !== 'refund' && dependsOnCountry(batch, partnerNumber, conversion.kind, key))
      waiting.add(key)
    if (!waiting.has(key)) return true
    if (conversion.partner_id) partners.add(conversion.partner_id)
    return false
  })
  return { decidable, waiting: [...partners] }
}

function dependsOnCountry(batch: Batch, partnerNumber: bigint, event: 'lead' | 'sale', key: string): boolean {
  const choice = batch.choices.get(partnerNumber)?.[event]
  const binding = event === 'sale' ? batch.pairs.get(key)?.binding : null
  const versions = [choice?.partner, choice?.group, binding?.version, ...(binding?.later ?? [])]
  return versions.some((version) => version && usesCountry(version))
}

function usesCountry({ terms }: RewardVersion): boolean {
  return terms.modifiers.some(({ conditions }) =>
    conditions.some(({ entity, attribute }) => entity === 'customer' && attribute === 'country'),
  )
}
