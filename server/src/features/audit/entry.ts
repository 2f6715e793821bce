import type { Change } from '../../platform/context.ts'
import type { Performed } from '../../platform/recording.ts'

/** The changed fields of an object, as stored: secrets and personal values are not in clear text. */
export type StoredChange = { id: string; kind: string; before?: Fields; after?: Fields }
export type Fields = Record<string, unknown>
/** Encrypts a personal value of a person. */
export type SealValue = (person: string, value: unknown) => unknown

export const largestChanges = 16_000
const mostTargets = 1_000
const secretRedaction = { $redacted: 'secret' }
const personalRedaction = { $redacted: 'personal' }
const sizeRedaction = { $redacted: 'size' }

const secretNames = /^(sealed|hash$)|password|secret|token$/i
const secretValues = /^(trib_|whsec_)/
/** Personal wherever they appear. */
const personalNames = new Set(
  `email contactEmail customer customerName customerEmail customerAvatar customerExternalId externalIds ip`.split(' '),
)
/** Personal in objects of this kind, each of which is a person with a key. */
const personalNamesByKind: Record<string, Set<string>> = {
  customers: new Set(['name', 'avatar', 'externalId', 'stripeCustomerId', 'country']),
  partners: new Set(
    `name image avatar username companyName tenantId description country website youtube twitter linkedin instagram
    tiktok`.split(/\s+/),
  ),
  members: new Set(['name', 'image']),
  account: new Set(['name', 'image']),
  invites: new Set(['name']),
}
/** Fields that follow from others or that change by themselves. */
const derivedNames = new Set(
  `id workspaceId projectId number version lookupKey shortLink qrCode createdAt updatedAt clicks leads conversions sales
  saleAmount lastClicked`.split(/\s+/),
)

/** Returns the entry's targets and changes: as the service reported them, or else as the client sent them. */
export function describeWrite(
  noun: string,
  reported: Change[],
  performed: Performed,
): { targetIds: string[]; changes: Required<Pick<Change, 'id' | 'kind'>>[] & Change[] } {
  const changes = reported.map((change) => ({ ...change, kind: change.kind ?? noun }))
  const targetIds = reported.length > 0 ? reported.map(({ id }) => id) : findTargets(performed)
  if (changes.length > 0) return { targetIds: unique(targetIds), changes }
  const { body } = performed
  if (!isObject(body) || Object.keys(body).length === 0) return { targetIds: unique(targetIds), changes: [] }
  return { targetIds: unique(targetIds), changes: [{ kind: noun, id: targetIds[0] ?? '', after: body }] }
}

/** Prepares changes for storage: only changed fields, no secrets, personal values encrypted, at most 16 kB. */
export function storeChanges(changes: (Change & { kind: string })[], sealValue: SealValue): StoredChange[] {
  const stored = changes.map((change) => storeChange(change, sealValue))
  if (JSON.stringify(stored).length <= largestChanges) return stored
  const shortened = redactLargest(stored)
  return JSON.stringify(shortened).length <= largestChanges ? shortened : []
}

/** Redacts the largest values until the rest fits, so that one long text hides no other field. */
function redactLargest(changes: StoredChange[]): StoredChange[] {
  const shortened = structuredClone(changes)
  const values = shortened
    .flatMap(({ before, after }) => [before ?? {}, after ?? {}])
    .flatMap((fields) => Object.keys(fields).map((name) => ({ fields, name, size: jsonSize(fields[name]) })))
    .sort((one, other) => other.size - one.size)
  let size = jsonSize(shortened)
  for (const { fields, name, size: before } of values) {
    if (size <= largestChanges || before <= jsonSize(sizeRedaction)) break
    fields[name] = sizeRedaction
    size += jsonSize(sizeRedaction) - before
  }
  return shortened
}

function jsonSize(value: unknown): number {
  return JSON.stringify(value).length
}

/** The persons whose values are in the changes. */
export function personsIn(changes: (Change & { kind: string })[]): string[] {
  const persons = new Set<string>()
  storeChanges(changes, (person) => persons.add(person) && null)
  return [...persons]
}

function storeChange({ id, kind, before, after }: Change & { kind: string }, sealValue: SealValue): StoredChange {
  const [old, current] = [before && plainFields(before), after && plainFields(after)]
  const isChanged = (name: string) =>
    !old ||
    !current ||
    current[name] === secretRedaction ||
    JSON.stringify(old[name] ?? null) !== JSON.stringify(current[name] ?? null)
  // A patch has only some of the fields.
  const names = Object.keys(current ?? old ?? {}).filter((name) => !derivedNames.has(name) && isChanged(name))
  const pick = (fields: Fields) =>
    Object.fromEntries(names.map((name) => [name, protect(name, fields[name] ?? null, { id, kind }, sealValue)]))
  return { id, kind, ...(old && { before: pick(old) }), ...(current && { after: withoutNulls(pick(current), old) }) }
}

/** A new object has null in most fields, which says nothing. */
function withoutNulls(fields: Fields, before: Fields | undefined): Fields {
  return before ? fields : Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function protect(name: string, value: unknown, about: { id: string; kind: string }, sealValue: SealValue): unknown {
  if (value === null || value === undefined) return null
  if (secretNames.test(name) || (typeof value === 'string' && secretValues.test(value))) return secretRedaction
  const ofPerson = personalNamesByKind[about.kind]
  if (personalNames.has(name) || ofPerson?.has(name)) {
    return ofPerson && about.id !== '' ? sealValue(about.id, value) : personalRedaction
  }
  if (Array.isArray(value)) return value.map((item) => protect('', item, about, sealValue))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, protect(key, inner, about, sealValue)]))
}

/** Converts a row or an API object: names in camel case, values as JSON. */
function plainFields(object: object): Fields {
  const entries = Object.entries(object).map(([name, value]) => [fieldName(name), jsonValue(value)])
  return Object.fromEntries(entries)
}

function fieldName(column: string): string {
  // The API's own names of these fields have an underscore.
  if (column.startsWith('utm_')) return column
  const name = column.replace(/^sealed_/, '')
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function jsonValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return secretRedaction
  if (typeof value === 'bigint') return Number(value)
  return value instanceof Date ? value.toISOString() : value
}

const idPattern = /^[a-z]+_[0-9a-f-]{36}$/

/** Finds the ids of the changed objects: in the response, else in the path, else in body and query. */
function findTargets({ params, query, body, result }: Performed): string[] {
  const inResult = [result].flat().flatMap((item) => (isObject(item) && typeof item.id === 'string' ? item.id : []))
  if (inResult.length > 0) return inResult
  // Clients choose external ids, which may identify a person.
  const inPath = Object.values(params ?? {}).filter((id): id is string => typeof id === 'string' && !/^ext_/.test(id))
  if (inPath.length > 0) return inPath
  const given = [query, body].flatMap((part) => (isObject(part) ? Object.entries(part) : []))
  return given
    .filter(([name]) => /ids?$/i.test(name))
    .flatMap(([, value]) => value)
    .filter((id): id is string => typeof id === 'string' && idPattern.test(id))
}

function unique(ids: string[]): string[] {
  return [...new Set(ids)].slice(0, mostTargets)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
