import type { z } from 'zod'
import { type AppError, badRequest, invalid } from './errors.ts'

type Issue = z.core.$ZodIssue
type Place = 'path' | 'query' | 'body' | 'header'

/** Wrong or missing types are malformed (400); right types with values that are not allowed are invalid (422). */
export function parse<S extends z.ZodType>(schema: S, value: unknown, place: Place): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw problem(parsed.error.issues, value, place)
}

function problem(issues: Issue[], value: unknown, place: Place): AppError {
  const message = issues
    .slice(0, 5)
    .map((issue) => `${field(issue.path, place)} ${complaint(issue, value)}`)
    .join(' ')
  return issues.some((issue) => isMalformed(issue)) ? badRequest(message) : invalid(message)
}

function field(path: PropertyKey[], place: Place): string {
  if (path.length === 0) return `The ${place}`
  const name = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  return `\`${name}\` in the ${place}`
}

function isMalformed(issue: Issue): boolean {
  if (issue.code === 'invalid_type') return (issue.expected as string) !== 'int'
  if (issue.code === 'invalid_value') return (issue as { expected?: string }).expected === 'stringbool'
  if (issue.code === 'invalid_union') return issue.errors.every((branch) => branch.every(isMalformed))
  return issue.code === 'unrecognized_keys'
}

function complaint(issue: Issue, value: unknown): string {
  const received = issue.path.reduce<unknown>(
    (at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part],
    value,
  )
  switch (issue.code) {
    case 'invalid_type':
      if (received === undefined) return 'is required.'
      if ((issue.expected as string) === 'int') return 'must be a whole number.'
      return `must be ${withArticle(issue.expected)}, not ${describe(received)}.`
    case 'too_big':
      return `must be ${bound(issue.origin, `${issue.maximum}`, 'at most')}${size(issue.origin, received)}.`
    case 'too_small':
      return `must be ${bound(issue.origin, `${issue.minimum}`, 'at least')}${size(issue.origin, received)}.`
    case 'invalid_value':
      if ((issue as { expected?: string }).expected === 'stringbool')
        return `must be true or false, not ${describe(received)}.`
      return `must be one of ${issue.values.map((allowed) => `\`${String(allowed)}\``).join(', ')}, not ${describe(received)}.`
    case 'invalid_format':
      return issue.format === 'url' ? 'must be an absolute URL.' : `must be a valid ${issue.format}.`
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}.`
    case 'invalid_union':
      return `is of no allowed type, it is ${describe(received)}.`
    default:
      return `is not allowed: ${issue.message}.`
  }
}

function bound(origin: string, value: string, word: string): string {
  if (origin === 'string') return `${word} ${value} characters long`
  if (origin === 'array') return `${word} ${value} items long`
  return `${word} ${value}`
}

function size(origin: string, received: unknown): string {
  if (origin === 'string' || origin === 'array') return `, not ${(received as string | unknown[]).length}`
  return `, not ${String(received)}`
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  return withArticle(Array.isArray(value) ? 'array' : typeof value)
}
