import { groupings } from '@tributary/contract/analytics'
import { type EventsQuery, eventsQuery } from '@tributary/contract/events'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { AppError } from '../../platform/errors.ts'
import { createToken } from '../tokens/service.ts'
import { parseFilter, parseValues } from './filter.ts'
import { resolvePeriod } from './period.ts'
import { buildWhere, type Where } from './where.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const seed = Number(process.env.TEST_SEED ?? 20_250_407)
const names = Object.keys(eventsQuery.shape) as (keyof EventsQuery)[]

const attacks = [
  "'; DROP TABLE click_events --",
  "') OR 1=1 --",
  "' UNION SELECT * FROM system.users --",
  '{workspaceId:String}',
  '{to:Int64}',
  "\\'; SELECT sleep(3) --",
  "a','b",
  'a\\',
  '`',
  '\\N',
  '/* */',
  '-)',
  '$1',
  '%27%00',
  "metadata['a']:'b'",
  "metadata['a'] OR 1=1",
  "metadata['{x:String}']:'{y:String}'",
  '../../etc/passwd',
  '1e999',
  '-1',
  '[1,2',
  'true',
  'UTC',
  '\t\n\r\b\f\v',
  ' \u2028\ufeff',
  '😀'.repeat(200),
  'x'.repeat(9_000),
  `a${','.repeat(900)}b`,
]
const attack = fc.constantFrom(...attacks)
const hostile = fc.oneof(
  attack,
  fc.tuple(attack, attack).map((parts) => parts.join('')),
  fc.tuple(fc.string({ unit: 'binary' }), attack).map((parts) => parts.join(',')),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const text = fc
  .tuple(fc.constantFrom('', '', '-'), hostile)
  .map((parts) => parts.join('').replaceAll('\0', '').toWellFormed())

test(`20,000 hostile parameter values change no SQL statement (seed ${seed})`, () => {
  const tried = new Map<string, number>()
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      text,
      fc.constantFrom('clicks', 'leads', 'sales'),
      fc.boolean(),
      (name, value, kind, isQuoted) => {
        // A quoted value makes a valid metadata search, an unquoted one mostly an invalid search.
        const quoted = `'${value.replaceAll(/['"\\]/g, '\\$&')}'`
        const given = name === 'query' && isQuoted ? `metadata[${quoted}]:${quoted}` : value
        const where = buildStatement({ event: kind, [name]: given })
        if (where) expect(where.text).toBe(buildStatement({ event: kind, [name]: harmless(name, given) })?.text)
        tried.set(name, (tried.get(name) ?? 0) + 1)
      },
    ),
    { numRuns: 20_000, seed },
  )
  expect(tried.size).toBe(names.length)
  expect(Math.min(...tried.values())).toBeGreaterThan(100)
}, 200_000)

/** The WHERE clause of a query; undefined when the query is refused. */
function buildStatement(given: Record<string, string>): Where | undefined {
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const { success, data: query } = eventsQuery.safeParse(filled)
  if (!success) return undefined
  const period = resolvePeriod(query, new Date('2025-04-07T13:45:30.500Z'))
  if ('problem' in period) return undefined
  try {
    return buildWhere('ws_1', period, { ...parseFilter(query).filter, hiddenFolders: [] }, query.event)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return undefined
  }
}

/** A harmless parameter value of the same form as the given one. */
function harmless(name: string, given: string): string {
  if (given === '') return ''
  if (name === 'query') return searches(given)
  if (['root', 'qr', 'saleType', 'event', 'limit', 'page', 'bots', 'attributed'].includes(name)) return given
  if (['start', 'end', 'timezone', 'interval', 'sortBy', 'sortOrder', 'order'].includes(name)) return ''
  if (['key', 'externalId', 'customerId', 'programId', 'cursor'].includes(name)) return 'x'
  const { values, excluded } = parseValues(given)
  return values.length > 0 ? `${excluded ? '-' : ''}x` : ''
}

/** Replaces quoted keys and values of a metadata search with `x`. */
function searches(given: string): string {
  const quoted = /'(?:\\['"\\]|[^'])*'|"(?:\\['"\\]|[^"])*"/g
  return given.replaceAll(quoted, "'x'")
}

test(`hostile parameter values never cause a 500 (seed ${seed})`, async () => {
  const workspace = await buildWorkspace(platform)
  await buildLink(platform, workspace)
  const tokens = await Promise.all(
    Array.from({ length: 4 }, () => createToken(platform, { workspaceId: workspace.id, name: 'test' })),
  )
  const calls = fc.sample(fc.record({ name: fc.constantFrom(...names), value: text }), { seed, numRuns: 400 })
  // The parameter `key` is used only together with `domain`.
  const queries = calls.map(
    ({ name, value }) => new URLSearchParams({ ...(name === 'key' && { domain: workspace.domain }), [name]: value }),
  )
  const turns = queries.entries()
  const statuses = new Map<number, number>()
  await Promise.all(
    tokens.map(async ({ key }) => {
      for (const [index, query] of turns) {
        const groupBy = groupings[index % groupings.length] as string
        const queries = [
          ['events', { event: 'clicks' }],
          ['events', { event: 'sales' }],
          ['analytics', { event: 'composite', groupBy }],
        ] as const
        for (const [path, first] of queries) {
          const asked = `${path}?${new URLSearchParams({ ...first, ...Object.fromEntries(query) })}`
          const response = await fetch(`${api}/${asked}`, { headers: { authorization: `Bearer ${key}` } })
          const body = await response.text()
          expect([200, 400, 404, 422, 429, 431], `${asked} ${body}`).toContain(response.status)
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        }
      }
    }),
  )
  expect(statuses.get(200)).toBeGreaterThan(200)
  expect(statuses.get(422)).toBeGreaterThan(20)
}, 120_000)
