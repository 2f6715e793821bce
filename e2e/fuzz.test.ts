import { operations } from '@tributary/contract/index'
import type { JsonOperation } from '@tributary/contract/operation'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { buildMember, buildProgram, buildWorkspace } from '../server/test/build.ts'
import { sized } from '../server/test/size.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { hostileTexts } from './hostile/texts.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const jsonOperations = operations.filter((operation) => operation.kind === 'json')
const requestCount = sized({ short: 1_500, full: 10_000 })
const atOnce = 16

/** Values that almost no field of the API accepts. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(...hostileTexts),
  },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 40_000 }).map((length) => 'x'.repeat(length)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(-1, 0, 1.5, 2 ** 53, -(2 ** 63), 1e308, Number.MIN_VALUE, true, false, null),
  },
  { weight: 2, arbitrary: fc.anything({ maxDepth: 3, withNullPrototype: false }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.array(fc.string(), { maxLength: 150 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 60 }).reduce<unknown>((inner) => ({ a: [inner] }), 1)) },
)

test('10,000 malformed requests over all operations get an error envelope, never a 500', async () => {
  const workspace = await buildWorkspace(platform)
  const key = { authorization: `Bearer ${workspace.key}` }
  const { cookie } = await buildMember(platform, workspace, 'owner')
  const session = { cookie, 'sec-fetch-site': 'same-origin', 'tributary-workspace': workspace.id }
  await buildProgram(platform, workspace)
  let refused = 0
  let taken = 0
  for (let round = 0; refused < requestCount; round++) {
    const requests = fc.sample(fc.constantFrom(...jsonOperations).chain(requestFor), { numRuns: 400, seed: round + 1 })
    for (let start = 0; start < requests.length; start += atOnce) {
      await Promise.all(
        requests.slice(start, start + atOnce).map(async (request) => {
          const { actors, needsUser } = request.operation
          const status = await send(actors.includes('key') && !needsUser ? key : session, request)
          if (status < 400) taken += 1
          else refused += 1
        }),
      )
    }
    expect(round, `only ${refused} requests were rejected, ${taken} were accepted`).toBeLessThan(100)
  }
  const health = await fetch(`${api}/readyz`)
  expect(health.status).toBe(200)
}, 240_000)

type Request = { operation: JsonOperation; path: string; query: string; body?: string }

function requestFor(operation: JsonOperation): fc.Arbitrary<Request> {
  const fields = 'shape' in operation.body ? Object.keys(operation.body.shape as object) : []
  const pathText = hostile.map((value) => encodeURIComponent(formatText(value).toWellFormed().slice(0, 300)) || '%20')
  return fc.record({
    operation: fc.constant(operation),
    path: fc.array(pathText, { minLength: 3, maxLength: 3 }).map((texts) => {
      let next = 0
      return operation.path.replaceAll(/\{\w+\}/g, () => texts[next++] ?? 'x')
    }),
    query: fc
      .dictionary(fc.constantFrom(...Object.keys(operation.query.shape), 'unknown'), hostile, { maxKeys: 4 })
      .map(formatQuery),
    body:
      operation.method === 'get' || operation.method === 'delete'
        ? fc.constant(undefined)
        : fc.oneof(
            {
              weight: 6,
              arbitrary: fc
                .dictionary(fc.constantFrom(...fields, 'unknown'), hostile, { minKeys: 1, maxKeys: 5 })
                .map(formatJson),
            },
            { weight: 2, arbitrary: hostile.map(formatJson) },
            { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
          ),
  })
}

async function send(credentials: Record<string, string>, { operation, path, query, body }: Request): Promise<number> {
  const response = await fetch(`${api}${path}?${query}`, {
    method: operation.method.toUpperCase(),
    headers: { ...credentials, 'content-type': 'application/json' },
    body,
  })
  const text = await response.text()
  const request = `${operation.id} ${path.slice(0, 200)}?${query.slice(0, 300)} ${body?.slice(0, 300)}: ${response.status} ${text.slice(0, 300)}`
  if (response.status >= 500) throw new Error(request)
  if (response.status >= 400) {
    const envelope = JSON.parse(text) as { error: Record<string, string> }
    expect(Object.keys(envelope), request).toEqual(['error'])
    expect(Object.keys(envelope.error).sort(), request).toEqual(['code', 'doc_url', 'message'])
  }
  return response.status
}

function formatQuery(parameters: Record<string, unknown>): string {
  const pairs = Object.entries(parameters).map(([name, value]): [string, string] => [
    name,
    formatText(value).slice(0, 4_000),
  ])
  return new URLSearchParams(pairs).toString()
}

function formatText(value: unknown): string {
  return typeof value === 'string' ? value : formatJson(value)
}

function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? Number(inner) : inner)) ?? 'null'
  } catch {
    return '[]'
  }
}
