import type { Random } from '../../../server/test/random.ts'
import type { Shape } from './shapes.ts'

/** Returns a known identifier for a field name, or undefined. */
export type Known = (name: string) => unknown

const deepest = 8
const urls = [
  'https://example.com/',
  'https://example.com/path?utm_source=a&b=c#d',
  'http://[::1]:80/',
  'https://例え.テスト/パス',
  'myapp://open/a',
  'https://user:pw@example.com/',
  `https://example.com/${'p'.repeat(2_000)}`,
  'http://127.0.0.1:1/',
  'https://example.com:65535/%00%ff',
  'javascript:alert(1)',
]
const instants = [
  '2030-01-31T12:00:00Z',
  '2026-01-01T00:00:00.000Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '1969-12-31T23:59:59+14:00',
  '2026-02-29T00:00:00Z',
  '2026-10-25T02:30:00+02:00',
]
const patterned = [
  ...['DE', 'usd', 'EUR', 'de', '#ff0000', '2026-02-28', '1234567890', '0', '999999999999999999', 'abc-def', 'abc'],
  ...['a@example.com', 'https://example.com', 'example.com', 'localhost:3000', 'x_y', 'meta.key', 'A1'],
]
const words = [
  'a',
  'Sign up',
  'example.com',
  'abc',
  '1',
  'true',
  'Ünïcödé',
  '日本語',
  '🙂',
  'a,b',
  '-a',
  'UTC',
  '24h',
  'all',
]

/** Returns a value that the schema probably accepts; fields with known identifiers often get one of those. */
export function makeValue(shape: Shape, random: Random, known: Known, name = '', depth = 0): unknown {
  const own = name === '' ? undefined : known(name)
  if (own !== undefined && random.chance(0.6)) return fitted(own, shape)
  if (shape.const !== undefined) return shape.const
  if (shape.enum) return random.pick(shape.enum)
  if (shape.anyOf) return makeValue(random.pick(shape.anyOf), random, known, name, depth)
  if (shape.allOf) return Object.assign({}, ...shape.allOf.map((part) => makeValue(part, random, known, '', depth)))
  const type = Array.isArray(shape.type) ? random.pick(shape.type) : shape.type
  switch (type) {
    case 'string':
      return makeText(shape, random, name)
    case 'integer':
    case 'number':
      return makeNumber(shape, random)
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'array':
      return makeList(shape, random, known, name, depth)
    case 'object':
      return makeObject(shape, random, known, depth)
    default:
      return random.pick<unknown>(['a', 1, true, 'https://example.com/', {}, ['a']])
  }
}

function fitted(value: unknown, shape: Shape): unknown {
  const options = shape.anyOf ?? [shape]
  const isList = options.some(({ type }) => type === 'array')
  const isText = options.some(({ type }) => type === 'string')
  if (Array.isArray(value) && !isList) return value[0]
  return isList && !isText && !Array.isArray(value) ? [value] : value
}

function makeText({ format, pattern, minLength = 0, maxLength = 5_000 }: Shape, random: Random, name: string): string {
  if (format === 'date-time') return random.pick(instants)
  if (format === 'email') return `a${random.below(1_000)}@example.com`
  if (format === 'date') return random.pick(['2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31'])
  if (format === 'uri' || /url|avatar|image|logo|placeholder|deepLink|referrer/i.test(name)) return random.pick(urls)
  if (pattern) {
    const allowed = patterned.filter((text) => new RegExp(pattern, 'u').test(text))
    if (allowed.length > 0) return random.pick(allowed)
  }
  const roll = random.below(20)
  const letter = random.pick(['x', 'é', '🙂', 'a b'])
  const longest = Math.min(maxLength, 40_000)
  if (roll === 0) return letter.repeat(Math.ceil(longest / letter.length)).slice(0, longest)
  if (roll === 1) return letter.repeat(minLength).slice(0, minLength)
  if (roll < 8) return `n-${random.below(1e9).toString(36)}`.padEnd(minLength, 'x').slice(0, maxLength)
  if (roll < 10) return random.pick(urls).slice(0, maxLength)
  return random.pick(words).padEnd(minLength, 'x').slice(0, maxLength)
}

function makeNumber(shape: Shape, random: Random): number {
  const lowest = shape.minimum ?? (shape.exclusiveMinimum === undefined ? 0 : shape.exclusiveMinimum + 1)
  const highest = shape.maximum ?? 2 ** 53 - 1
  const roll = random.below(6)
  if (roll === 0) return lowest
  if (roll === 1) return highest
  return Math.min(highest, lowest + random.below(random.pick([2, 10, 100, 100_000])))
}

function makeList(shape: Shape, random: Random, known: Known, name: string, depth: number): unknown[] {
  const least = shape.minItems ?? 0
  const most = Math.min(shape.maxItems ?? 150, 150)
  const length = depth > deepest ? least : random.chance(0.03) ? most : Math.min(most, least + random.below(4))
  const { items = {} } = shape
  return Array.from({ length }, () => makeValue(items, random, known, name.replace(/s$/, ''), depth + 1))
}

function makeObject(shape: Shape, random: Random, known: Known, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = shape
  const share = random.pick([0.05, 0.2, 0.6])
  const object: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(properties)) {
    if (required.includes(name) || (depth < deepest && random.chance(share)))
      object[name] = makeValue(inner, random, known, name, depth + 1)
  }
  if (typeof additionalProperties === 'object' && depth < deepest) {
    for (let count = random.below(4); count > 0; count--) {
      const name = String(makeValue(propertyNames ?? { type: 'string', maxLength: 20 }, random, () => undefined))
      object[name] = makeValue(additionalProperties, random, known, '', depth + 1)
    }
  }
  return object
}
