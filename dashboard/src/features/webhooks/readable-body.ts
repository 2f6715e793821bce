export type FieldGroup = { name: string; fields: [name: string, value: string][] }

const mostFields = 300
const mostCharacters = 1_000

/** The body of an event as people read it: a group for each object in its data, without fields that are not set. */
export function readableBody(body: string): FieldGroup[] {
  const parsed = parse(body)
  if (!isObject(parsed)) return [{ name: '', fields: [['', cut(body)]] }]
  const { data, ...event } = parsed
  const inner = isObject(data) ? data : { data }
  const plain = Object.entries(inner).filter(([, value]) => !isObject(value))
  const objects = Object.entries(inner).filter(([, value]) => isObject(value))
  const groups = [
    { name: '', value: event },
    { name: 'data', value: Object.fromEntries(plain) },
    ...objects.map(([name, value]) => ({ name, value })),
  ]
  let left = mostFields
  return groups.flatMap(({ name, value }) => {
    const fields = flatten(value).slice(0, left)
    left -= fields.length
    return fields.length > 0 ? [{ name, fields }] : []
  })
}

/** The body as JSON with one field per line; as it is when it is not JSON. */
export function prettyBody(body: string): string {
  const parsed = parse(body)
  return parsed === undefined ? body : JSON.stringify(parsed, undefined, 2)
}

function flatten(value: unknown, path = ''): [string, string][] {
  if (value === null || value === undefined || value === '') return []
  if (typeof value !== 'object') return [[path, cut(String(value))]]
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== 'object')
  if (isPlainList) return value.length === 0 ? [] : [[path, cut(value.join(', '))]]
  return Object.entries(value).flatMap(([name, inner]) => flatten(inner, path ? `${path}.${name}` : name))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function cut(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}
