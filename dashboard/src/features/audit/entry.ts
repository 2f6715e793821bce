import type { OperationAnswer } from '@tributary/contract/client'

export type AuditEntry = OperationAnswer<'listAuditLog'>[number]
export type Change = AuditEntry['changes'][number]

/** A value of a field: a text, nothing, or the reason why it is not shown. */
export type FieldValue = { text: string } | { redacted: string } | undefined
export type FieldChange = { field: string; before: FieldValue; after: FieldValue }

const mostFields = 200
const mostCharacters = 2_000

/** The fields that a change set, changed or removed, those that stayed the same left out. */
export function compareFields({ before, after }: Pick<Change, 'before' | 'after'>): FieldChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names
    .map((field) => ({ field, before: readValue(before?.[field]), after: readValue(after?.[field]) }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after) || isHidden(one.after))
    .slice(0, mostFields)
}

function readValue(value: unknown): FieldValue {
  if (value === null || value === undefined || value === '') return undefined
  if (typeof value === 'object' && 'redacted' in value) return { redacted: String(value.redacted) }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { text: text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text }
}

/** Two hidden values may differ. */
function isHidden(value: FieldValue): boolean {
  return value !== undefined && 'redacted' in value
}
