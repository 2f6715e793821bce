import type { OperationInput } from '@tributary/contract/client'
import { daysRange, parseDays } from '../../ui/days.ts'

/** What the address of the page says: the filters, and the entry that is open. */
export type AuditSearch = {
  actor?: string
  operation?: string
  object?: string
  /** Days, as `7d` or `2026-01-01..2026-01-31`. */
  days?: string
  entry?: number
}

/** Reads the address; what it doesn't know is dropped. */
export function parseAuditSearch(given: Record<string, unknown>): AuditSearch {
  const text = (value: unknown) =>
    typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined
  const [actor, operation, object] = [given.actor, given.operation, given.object].map(text)
  const days = parseDays(text(given.days))
  const entry = Number(given.entry)
  return {
    ...(actor && { actor }),
    ...(operation && { operation }),
    ...(object && { object }),
    ...(days && { days }),
    ...(Number.isSafeInteger(entry) && entry > 0 && { entry }),
  }
}

/** The filters as the API takes them. */
export function auditFilters({ actor, operation, object, days }: AuditSearch, timeZone: string, now = Date.now()) {
  return {
    ...(actor && { actorId: actor }),
    ...(operation && { operation }),
    ...(object && { targetId: object }),
    ...daysRange(days, timeZone, now),
  } satisfies OperationInput<'listAuditLog'>['query']
}

export function isFiltered({ entry, ...filters }: AuditSearch): boolean {
  return Object.keys(filters).length > 0
}
