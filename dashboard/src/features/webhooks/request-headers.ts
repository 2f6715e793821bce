import type { DeliveryInFull } from './webhook-values.ts'

/** The headers of the latest attempt. Signatures are made anew for each attempt, and no copy is stored. */
export function requestHeaders({ eventId, log }: Pick<DeliveryInFull, 'eventId' | 'log'>): [string, string][] {
  const at = log[0]?.at
  return [
    ['content-type', 'application/json'],
    ['webhook-id', eventId],
    ...(at ? ([['webhook-timestamp', String(Math.floor(Date.parse(at) / 1_000))]] as [string, string][]) : []),
    ['webhook-signature', 'v1,…'],
  ]
}
