import type { OperationAnswer } from '@tributary/contract/client'

type Link = OperationAnswer<'getLinks'>[number]
export type FieldChange = { field: string; before: string; after: string }

/** Fields that follow from others, or change with every write. */
const derived = new Set(['updatedAt', 'tagId', 'shortLink', 'qrCode', 'projectId'])

/** What differs between a link before and after a change, as texts; an empty text is no value. */
export function listChanges(before: Link, after: Link): FieldChange[] {
  const names = Object.keys(after) as (keyof Link)[]
  return names
    .filter((name) => !derived.has(name))
    .map((name) => ({ field: name, before: format(before[name]), after: format(after[name]) }))
    .filter((change) => change.before !== change.after)
}

function format(value: Link[keyof Link] | undefined): string {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(formatItem).join(', ')
  return typeof value === 'object' ? Object.keys(value).join(', ') : String(value)
}

function formatItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item)
  return 'name' in item ? String(item.name) : JSON.stringify(item)
}
