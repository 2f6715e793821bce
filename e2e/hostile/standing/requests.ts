import { gzipSync } from 'node:zlib'
import { operations } from '@tributary/contract/index'
import type { Operation } from '@tributary/contract/operation'
import { foreignValue } from '../../../server/test/foreign-values.ts'
import type { Random } from '../../../server/test/random.ts'
import { hostileTexts } from '../texts.ts'
import { formatText, mutate, mutateText, type Sent } from './mutate.ts'
import { readShapes, type Shapes } from './shapes.ts'
import type { Tenant } from './tenant.ts'
import { makeValue } from './values.ts'

/** A request before it becomes bytes. */
export type Request = {
  name: string
  method: string
  target: string
  headers: [string, string][]
  body?: Buffer
  isStream: boolean
}

/** Operations that pages call most; the others have 4, or 1 where the limits let few requests through at once. */
const weights: Record<string, number> = { trackClick: 12, trackVisit: 12, trackOpen: 12, trackLead: 12, trackSale: 12 }
/** Operations that could end the attacker's own access. */
const deadly = ['deleteWorkspace', 'leaveWorkspace', 'transferWorkspace', 'revokeToken', 'rotateToken', 'updateToken']
const shapesById = new Map<string, Shapes>()
const wheel = operations.flatMap((operation) => Array<Operation>(weigh(operation)).fill(operation))

/** A request of a random operation: valid, or changed in some places. */
export function makeRequest(random: Random, tenant: Tenant): Request {
  const operation = random.pick(wheel)
  const shapes = shapesById.get(operation.id) ?? readShapes(operation)
  shapesById.set(operation.id, shapes)
  const template = tenant.calls[operation.id]
  const isTemplate = template !== undefined && random.chance(0.4)
  const sent = isTemplate ? copyCall(tenant, operation, random) : makeCall(shapes, random, tenant)
  for (let count = random.pick([0, 0, 1, 1, 1, 2, 3]); count > 0; count--) mutate(sent, random)
  if (!random.chance(0.005)) spareOwn(sent, tenant, operation)
  const headers = makeHeaders(operation, random, tenant, isTemplate)
  const body = makeBody(shapes, sent, random, headers)
  const method = random.chance(0.01) ? random.pick(['HEAD', 'OPTIONS', 'PUT', 'TRACE', 'DELETE']) : operation.method
  return {
    name: operation.id,
    method: method.toUpperCase(),
    target: formatTarget(operation.path, sent, random),
    headers,
    body,
    isStream: operation.kind === 'stream',
  }
}

function weigh(operation: Operation): number {
  const isFast = !('limit' in operation) || operation.limit === 'standard'
  return weights[operation.id] ?? (isFast ? 4 : 1)
}

function makeCall(shapes: Shapes, random: Random, { objects }: Tenant): Sent {
  const known = (name: string) => foreignValue(objects, name, shapes.operation.path)
  const params = shapes.names.map((name) => [name, formatText(known(name) ?? 'unknown')])
  const share = random.pick([0.05, 0.15, 0.5])
  const query = Object.entries(shapes.query)
    .filter(([name]) => shapes.requiredQuery.includes(name) || random.chance(share))
    .map(([name, shape]): [string, string] => [name, formatText(makeValue(shape, random, known, name))])
  const body = shapes.body && makeValue(shapes.body, random, known)
  return { params: Object.fromEntries(params), query, body }
}

/** Replaces the workspace and the key that the next requests need. */
function spareOwn({ params }: Sent, { objects, calls }: Tenant, { id }: Operation): void {
  const isDeadly = deadly.includes(id)
  for (const [name, value] of isDeadly ? Object.entries(params) : []) {
    if (value === objects.keyId) params[name] = calls[id]?.params?.[name] ?? 'unknown'
    if (value === objects.id || value === objects.slug) params[name] = 'unknown'
  }
}

/** A valid call; names that must be new get a random end. */
function copyCall({ calls }: Tenant, { id }: Operation, random: Random): Sent {
  const { params = {}, query = {}, body } = calls[id] ?? {}
  const isNew = random.chance(0.8)
  const renew = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.map((inner) => renew(inner))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([inner, own]) => [inner, renew(own, inner)]))
    if (typeof value !== 'string' || !isNew || !/^(name|slug|externalId|code|email)$/.test(name)) return value
    return value.replace(/^\w/, (letter) => `${letter}${random.below(1e9).toString(36)}`)
  }
  return { params: { ...params }, query: Object.entries(query), body: renew(body) }
}

function formatTarget(path: string, { params, query }: Sent, random: Random): string {
  const encode = random.chance(0.97) ? encodeURIComponent : (text: string) => text.replaceAll(/[\s?#]/g, '_')
  const names = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => latin(encode(params[name] ?? 'unknown')))
  const pairs = query.map(([name, value]) => `${latin(encode(name))}=${latin(encode(value))}`).join('&')
  const target = pairs === '' ? names : `${names}?${pairs}`
  if (!random.chance(0.01)) return target.slice(0, 120_000)
  return random.pick([
    `/${target}`,
    `${target}%`,
    `${target}/..`,
    `${target}?%ff%fe`,
    `${target}?${'%FF&'.repeat(20_000)}`,
    `${target}#a`,
    target.toUpperCase(),
  ])
}

/** Bytes of a request line are one byte per character; others would be cut. */
function latin(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function makeBody({ body: shape, bodyLimit }: Shapes, { body }: Sent, random: Random, headers: [string, string][]) {
  if (shape === undefined && !random.chance(0.02)) return undefined
  const text = body === undefined ? '' : JSON.stringify(body)
  const plain = random.chance(0.06) ? mutateText(text, random) : Buffer.from(text)
  const roll = random.below(400)
  if (roll === 0)
    return Buffer.concat([plain, Buffer.alloc(bodyLimit - (plain.length % bodyLimit) + random.below(3) - 1, ' ')])
  if (roll > 3) return plain
  const encoding = random.pick(['gzip', 'br', 'identity', 'gzip, gzip'])
  headers.push(['Content-Encoding', encoding])
  return encoding === 'gzip' ? gzipSync(random.chance(0.1) ? Buffer.alloc(5_000_000) : plain) : plain
}

function makeHeaders(operation: Operation, random: Random, tenant: Tenant, isTemplate: boolean): [string, string][] {
  const headers: [string, string][] = [['X-Forwarded-For', makeAddress(random)]]
  if (operation.method !== 'get')
    headers.push(['Content-Type', random.chance(0.95) ? 'application/json' : random.pick(types)])
  headers.push(...makeCredentials(operation, random, tenant, isTemplate))
  if (random.chance(0.1))
    headers.push(['Idempotency-Key', random.pick(['a', 'b', 'k'.repeat(255), 'k'.repeat(256), 'ü', '{}'])])
  while (random.chance(0.08)) headers.push(makeHeader(random))
  if (random.chance(0.004)) for (let index = 0; index < 400; index++) headers.push([`X-Many-${index}`, 'a'])
  return headers
}

const types = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=a',
  '',
  'application/json; charset=utf-16',
]

/** An address of its own for almost every request, because requests without a key are limited by address. */
export function makeAddress(random: Random): string {
  const part = () => random.below(256)
  if (random.chance(0.9)) return `${random.pick([5, 81, 93, 212])}.${part()}.${part()}.${part()}`
  return random.pick([
    `2001:db8:${part()}:${part()}::1`,
    `::ffff:81.2.${part()}.${part()}`,
    'unknown',
    '1.2.3.4, 10.0.0.1',
    '',
  ])
}

function makeCredentials(
  operation: Operation,
  random: Random,
  tenant: Tenant,
  isTemplate: boolean,
): [string, string][] {
  if (operation.kind === 'public' || operation.kind === 'browser') return makePage(random)
  if (random.chance(0.01))
    return [['Authorization', `Bearer ${random.pick([...hostileTexts, 'trib_x']).replaceAll(/[^ -~]/g, '')}`]]
  if (operation.kind === 'json' && operation.isForPages && random.chance(0.4)) {
    return [['Authorization', `Bearer ${tenant.publishableKey}`], ...makePage(random)]
  }
  const isForKeys = operation.actors.includes('key') && !('needsUser' in operation && operation.needsUser)
  const own = isTemplate ? tenant.calls[operation.id]?.user?.cookie : undefined
  if (isForKeys && own === undefined && random.chance(0.85)) return [['Authorization', `Bearer ${tenant.objects.key}`]]
  return [
    ['Cookie', own ?? tenant.cookie],
    ['Sec-Fetch-Site', 'same-origin'],
    ['Tributary-Workspace', tenant.objects.id],
  ]
}

const origins = [
  ...[
    'https://shop.example.com',
    'https://a.pages.example',
    'https://evil.example',
    'null',
    'https://shop.example.com.evil.example',
  ],
  ...[
    'file://',
    'https://shop.example.com:8443',
    'https://[::1]',
    'chrome-extension://abc',
    'https://SHOP.example.com',
    'a',
  ],
]

/** Headers of a web page, mostly of one that may use the publishable key. */
function makePage(random: Random): [string, string][] {
  const headers: [string, string][] = []
  if (random.chance(0.8))
    headers.push(['Origin', random.chance(0.6) ? 'https://shop.example.com' : random.pick(origins)])
  if (random.chance(0.3))
    headers.push(['Referer', `${random.pick(origins)}/${'p'.repeat(random.pick([0, 10, 3_000]))}`])
  return [...headers, ['User-Agent', makeAgent(random)]]
}

export function makeAgent(random: Random): string {
  const version = random.below(1_000)
  return random.pick([
    `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_${version} like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1`,
    `Mozilla/5.0 (Linux; Android 14; Pixel ${version}) Chrome/126.0.0.0 Mobile Safari/537.36`,
    'Googlebot/2.1 (+http://www.google.com/bot.html)',
    'facebookexternalhit/1.1',
    '',
    '('.repeat(900),
    `Mozilla/5.0 (${'a;'.repeat(400)}) ${'Chrome/1 '.repeat(100)}`,
    'Mozilla/5.0 \u00e9\u00ff (a) Safari',
  ])
}

export function makeHeader(random: Random): [string, string] {
  const value = random.pick([
    '',
    '*',
    '"a"',
    'W/"a", "b"',
    '-1',
    'é',
    'a=b; c="d',
    ',,,',
    '0'.repeat(300),
    'x'.repeat(8_000),
  ])
  const names = [
    ...[
      'If-Match',
      'If-None-Match',
      'Range',
      'X-Request-Id',
      'Traceparent',
      'Tributary-Workspace',
      'Cookie',
      'Referer',
    ],
    ...['X-Forwarded-Proto', 'X-Forwarded-Host', 'Forwarded', 'Accept', 'Accept-Language', 'Accept-Encoding', 'Origin'],
    ...[
      'X-HTTP-Method-Override',
      'Last-Event-ID',
      'CF-IPCountry',
      'X-City',
      'Sec-Fetch-Site',
      'Sec-Purpose',
      'If-Modified-Since',
    ],
  ]
  return [
    random.pick(names),
    random.chance(0.6) ? value : random.pick(['https', 'DE', 'prefetch', 'cross-site', 'bytes=0-', 'en, de;q=0.5']),
  ]
}
