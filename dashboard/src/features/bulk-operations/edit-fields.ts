import type { NewBulkOperation } from './bulk-filter.ts'

export type BulkData = NonNullable<NewBulkOperation['data']>

/** The fields that one change can set in many links, in their order, by what is entered for them. */
export const editFields = {
  url: 'text',
  comments: 'text',
  archived: 'switch',
  trackConversion: 'switch',
  utm_source: 'text',
  utm_medium: 'text',
  utm_campaign: 'text',
  utm_term: 'text',
  utm_content: 'text',
  ref: 'text',
  expiresAt: 'text',
  expiredUrl: 'text',
  disabled: 'switch',
  password: 'text',
  ios: 'text',
  android: 'text',
  proxy: 'switch',
  title: 'text',
  description: 'text',
  image: 'text',
  rewrite: 'switch',
  doIndex: 'switch',
  tenantId: 'text',
} as const
export type EditField = keyof typeof editFields
export const fieldNames = Object.keys(editFields) as EditField[]

/** What was entered: texts, and `on` or `off` for switches. A field that is absent stays as it is. */
export type Entered = Partial<Record<EditField, string>>

/** The change as the operation takes it: an empty text removes the value. */
export function editData(entered: Entered, now = new Date()): BulkData {
  const { disabled, ...rest } = entered
  const fields = Object.entries(rest).map(([name, text]) => {
    if (editFields[name as EditField] === 'switch') return [name, text === 'on']
    return [name, text.trim() === '' ? null : text.trim()]
  })
  return {
    ...Object.fromEntries(fields),
    ...(disabled !== undefined && { disabledAt: disabled === 'on' ? now.toISOString() : null }),
  }
}

/** What is wrong with the entered values before the server sees them. */
export function missingField({ url }: Entered): EditField | undefined {
  return url !== undefined && url.trim() === '' ? 'url' : undefined
}
