import { hash } from 'node:crypto'
import type { z } from 'zod'
import { type AppError, badRequest, conflict, invalid } from './errors.ts'
import { cutQuery, parseParameters } from './query-string.ts'

type Issue = z.core.$ZodIssue
type RequestPart = 'path' | 'query' | 'body' | 'header'

/** Validates part of a request: wrong or missing types give 400, right types with values that are not allowed give 422. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, part: RequestPart): z.output<S> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw problem(parsed.error.issues, value, part)
  const unstorable = findUnstorable(parsed.data)
  if (unstorable?.isNumber) throw invalid(`${field(unstorable.path, part)} must be a number below 1.8e308.`)
  if (unstorable) {
    const complaint = 'must not contain the character U+0000 or half of a surrogate pair.'
    throw invalid(`${field(unstorable.path, part)} ${complaint}`)
  }
  return parsed.data
}

/** The entity tag of an API object: it changes with each field, except for those that change by themselves. */
export function entityTag(object: object, volatile: readonly string[] = []): string {
  const fields = Object.entries(object).filter(([name]) => !volatile.includes(name))
  return `"${hash('sha256', JSON.stringify(fields), 'base64url').slice(0, 22)}"`
}

/** Throws 409 unless the tag is one of the expected ones, as in the header `If-Match`; an empty text expects nothing. */
export function requireTag(expected: string, tag: string): void {
  // Proxies that compress a response mark its tag as weak, or with the compression's name.
  const tags = expected.split(',').map((text) =>
    text
      .trim()
      .replace(/^W\//, '')
      .replace(/-(?:br|gzip|zstd)"$/, '"'),
  )
  if (expected === '' || tags.includes('*') || tags.includes(tag)) return
  throw conflict(
    'Somebody has changed this object since you read it: its `ETag` is not the one in `If-Match`. Read it again, then repeat your change.',
  )
}

function problem(issues: Issue[], value: unknown, part: RequestPart): AppError {
  const message = issues
    .slice(0, 5)
    .map((issue) => {
      const received = valueAt(value, issue.path)
      const isRepeated = part === 'query' && isListForOne(issue, received)
      return `${field(issue.path, part)} ${isRepeated ? 'is given more than once. Send it once.' : complaint(issue, received)}`
    })
    .join(' ')
  const malformed = issues.some((issue) => isMalformed(issue, valueAt(value, issue.path)))
  return malformed ? badRequest(message) : invalid(message)
}

function valueAt(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | undefined | null)?.[part], value)
}

/** Returns the path of the first string or number that PostgreSQL can't store. */
function findUnstorable(value: unknown): { path: PropertyKey[]; isNumber: boolean } | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : { path: [], isNumber: false }
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path: [], isNumber: true }
  if (typeof value !== 'object' || value === null) return undefined
  for (const name of Object.keys(value)) {
    if (!isStorable(name)) return { path: [], isNumber: false }
    const found = findUnstorable((value as Record<string, unknown>)[name])
    if (!found) continue
    found.path.unshift(Array.isArray(value) ? Number(name) : name)
    return found
  }
  return undefined
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function field(path: PropertyKey[], part: RequestPart): string {
  if (path.length === 0) return `The ${part}`
  const name = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  return `\`${name}\` in the ${part}`
}

function isMalformed(issue: Issue, received: unknown): boolean {
  switch (issue.code) {
    case 'invalid_type':
      return received === undefined || (issue.expected as string) !== 'int'
    case 'invalid_value':
      return isBooleanText(issue) || !issue.values.some((allowed) => typeof allowed === typeof received)
    case 'invalid_union':
      if (issue.errors.length === 0) return typeof received !== 'string'
      return issue.errors.every((branch) => branch.some((inner) => isMalformed(inner, valueAt(received, inner.path))))
    default:
      return issue.code === 'unrecognized_keys'
  }
}

function isListForOne(issue: Issue, received: unknown): boolean {
  if (!Array.isArray(received)) return false
  return issue.code === 'invalid_value' || (issue.code === 'invalid_type' && issue.expected !== 'array')
}

function complaint(issue: Issue, received: unknown): string {
  if (received === undefined && issue.code !== 'custom') return 'is required.'
  switch (issue.code) {
    case 'invalid_type':
      if ((issue.expected as string) === 'int') return 'must be a whole number.'
      return `must be ${withArticle(issue.expected)}, not ${describe(received)}.`
    case 'too_big':
      return `must be ${bound(issue, Number(issue.maximum), 'at most')}, not ${size(issue.origin, received)}.`
    case 'too_small':
      return `must be ${bound(issue, Number(issue.minimum), 'at least')}, not ${size(issue.origin, received)}.`
    case 'invalid_value':
      return `must be ${isBooleanText(issue) ? 'true or false' : formatChoices(issue.values)}, not ${describe(received)}.`
    case 'invalid_format':
      if (issue.format === 'regex') return `must match ${issue.pattern}.`
      if (issue.format === 'datetime') return 'must be a date and time such as 2030-01-31T12:00:00Z.'
      return issue.format === 'url' ? 'must be an absolute URL.' : `must be a valid ${issue.format}.`
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}.`
    case 'invalid_union':
      if ('options' in issue) return `must be ${formatChoices(issue.options as string[])}, not ${describe(received)}.`
      return `must have one of the allowed forms, not ${describe(received)}.`
    default:
      return `is not allowed: ${issue.message}.`
  }
}

function isBooleanText(issue: object): boolean {
  return 'expected' in issue && issue.expected === 'stringbool'
}

function formatChoices(values: readonly unknown[]): string {
  return `one of ${values.map((allowed) => `\`${String(allowed)}\``).join(', ')}`
}

function bound({ origin, exact }: { origin: string; exact?: boolean }, value: number, word: string): string {
  const unit = { string: 'character', array: 'item' }[origin]
  const most = exact ? 'exactly' : word
  return unit ? `${most} ${value} ${unit}${value === 1 ? '' : 's'} long` : `${most} ${value}`
}

function size(origin: string, received: unknown): string {
  return String(origin === 'string' || origin === 'array' ? (received as string | unknown[]).length : received)
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  return withArticle(Array.isArray(value) ? 'array' : typeof value)
}

const mostParameters = 2_000

/** Reads the query parameters of a URL: an empty value counts as missing; a repeated name becomes a list. */
export function readQuery(url: string): Record<string, string | string[]> {
  const pairs = parseParameters(cutQuery(url), mostParameters + 1)
  if (pairs.length > mostParameters) throw invalid(`The query has more than ${mostParameters} parameters.`)
  const given = Map.groupBy(
    pairs.filter(([name, value]) => name !== '' && value !== ''),
    ([name]) => name,
  )
  return Object.fromEntries(
    [...given].map(([name, own]) => {
      const [value = '', ...others] = own.map(([, value]) => value)
      return [name, others.length === 0 ? value : [value, ...others]]
    }),
  )
}
