import { describe, expect, test } from 'vitest'
import { operations } from '../src/index.ts'
import {
  type DocumentOperation,
  differences,
  document,
  objectDifferences,
  type Parameter,
  resolve,
  type Schema,
} from './document.ts'
import { bodies, bodyAdditions } from './specification/bodies.ts'
import { eventsParameters } from './specification/events.ts'
import { operationTables, required } from './specification/operations.ts'
import { documentVersion, errorCodes, largestPage, planGates, rateLimitHeaders } from './specification/rules.ts'
import { shapes } from './specification/shapes.ts'

/*
 * Compares the OpenAPI document with tables that were typed by hand from the specification
 * (contract/test/specification), so that the contract can't drift from the specification unnoticed.
 */

const documented = Object.values(document.paths).flatMap((path) => Object.values(path))

const guarded = operations.filter((operation) => operation.kind === 'json' || operation.kind === 'stream')

test('has the version of the specification', () => {
  expect(document.info.version).toBe(documentVersion)
})

test('the tables have the 43 parameters, 51 link fields and 15 click fields of the specification', () => {
  const [parameters, link, click] = [eventsParameters, shapes.Link, shapes.Click].map((table) =>
    Object.keys(table ?? {}),
  )
  expect([parameters?.length, link?.length, click?.length]).toEqual([43, 51, 15])
})

describe.each(operationTables)('$id', ({ id, method, path, status, query, additions = [], body, response }) => {
  const operation = document.paths[path]?.[method] as DocumentOperation
  const parameters = (operation?.parameters ?? []).filter((parameter) => parameter.in === 'query')

  test('has its path and status', () => {
    expect(operation?.operationId).toBe(id)
    expect(Object.keys(operation.responses).filter((code) => code.startsWith('2'))).toEqual([String(status)])
  })

  test('has exactly the parameters of the specification', () => {
    expect(parameters.map(({ name }) => name).sort()).toEqual([...Object.keys(query), ...additions].sort())
  })

  test('states type, default, values, bounds, required and deprecated of every parameter', () => {
    const found = parameters.flatMap((parameter) => {
      const field = query[parameter.name]
      if (!field) return []
      const isRequired = required[id]?.includes(parameter.name) ?? false
      const wrong =
        (parameter.required ?? false) === isRequired ? [] : [`${parameter.name}: required is ${!isRequired}`]
      return [...wrong, ...differences(parameter.name, flagged(parameter), field)]
    })
    expect(found).toEqual([])
  })

  test('has the response of the specification', () => {
    const content = operation.responses[status]?.content?.['application/json']
    expect(differences('answer', content?.schema ?? {}, response)).toEqual([])
  })

  test.runIf(body !== undefined)('has the request body of the specification', () => {
    const content = operation.requestBody?.content['application/json']
    expect(content?.schema.$ref?.split('/').at(-1)).toBe(body)
  })
})

const components = Object.keys(shapes).filter((name) => document.components.schemas[name])

test.each(components)('%s has exactly the fields of the table and allows no others', (name) => {
  const schema = document.components.schemas[name] as Schema
  expect(objectDifferences(name, schema, shapes[name] ?? {})).toEqual([])
  expect(schema.additionalProperties).toBe(false)
})

test.each(Object.keys(bodies).filter((name) => document.components.schemas[name]))(
  'the body %s has exactly the fields of the table',
  (name) => {
    const schema = document.components.schemas[name] as Schema
    const found = objectDifferences(name, schema, withDefaults(name), bodyAdditions[name])
    expect(found).toEqual([])
  },
)

test('a default does not make a response field optional', () => {
  const found = documented.flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap(({ content = {} }) =>
      Object.values(content).flatMap(({ schema }) => optionalDefaults(operationId, schema)),
    ),
  )
  expect(found).toEqual([])
})

test('deprecated parameters have `deprecated` on the parameter, not in its schema', () => {
  const hidden = documented.flatMap(({ operationId, parameters = [] }) =>
    parameters
      .filter(({ schema, deprecated }) => Boolean(schema.deprecated) && !deprecated)
      .map(({ name }) => `${operationId} ${name}`),
  )
  expect(hidden).toEqual([])
})

test('every operation has the nine error responses with the error envelope; 429 has the rate limit headers', () => {
  const open = operations.filter((operation) => !('scope' in operation)).map(({ id }) => id)
  for (const { operationId, responses } of documented) {
    const statuses = Object.keys(responses).map(Number)
    const refused = statuses.filter((status) => status >= 400)
    if (open.includes(operationId)) expect(Object.values(errorCodes)).toEqual(expect.arrayContaining(refused))
    else expect(refused.sort(), operationId).toEqual(Object.values(errorCodes).sort())
    for (const status of refused) {
      expect(responses[status]?.content?.['application/json']?.schema.$ref).toBe('#/components/schemas/Error')
    }
    for (const status of [...statuses.filter((code) => code < 300), 429]) {
      expect(Object.keys(responses[status]?.headers ?? {}), `${operationId} ${status}`).toEqual(
        expect.arrayContaining(rateLimitHeaders),
      )
    }
  }
})

test('every operation with a key states its scope, plan and rate limit, in prose and as extensions', () => {
  for (const { id, scope, plan, limit } of guarded) {
    const operation = documented.find(({ operationId }) => operationId === id)
    expect(operation).toMatchObject({ 'x-scope': scope, 'x-plan': plan, 'x-rate-limit': limit })
    expect(operation?.description).toContain(`\`${scope}\``)
    expect(operation?.description).toContain(plan === 'free' ? 'every plan' : `the ${plan} plan or higher`)
  }
})

test('exactly the operations of the specification, and our other ways to the same counts, require a plan', () => {
  const analytics = planGates.retrieveAnalytics
  const ours = { retrieveAnalyticsBatch: analytics, retrieveLinkStats: analytics, retrieveVisitorsNow: analytics }
  const gates: Partial<Record<string, string>> = { ...planGates, ...ours }
  for (const { id, plan } of guarded) expect(plan, id).toBe(gates[id] ?? 'free')
})

test('every list takes page, pageSize of 100 at most, sortBy and sortOrder', () => {
  const lists = documented.filter(({ operationId, responses, parameters = [] }) => {
    const schema = responses[200]?.content?.['application/json']?.schema
    const isList = schema?.type === 'array' && !/^(bulk|check)/.test(operationId)
    const isOther = ['listEvents', 'retrieveLinkStats', 'retrievePartnerLinks', 'listSetupSteps'].includes(operationId)
    return isList && !isOther && parameters.every((parameter) => parameter.name !== 'groupBy')
  })
  expect(lists.length).toBeGreaterThanOrEqual(7)
  for (const { operationId, parameters = [] } of lists) {
    const names = parameters.map(({ name }) => name)
    expect(names, operationId).toEqual(expect.arrayContaining(['page', 'pageSize', 'sortBy', 'sortOrder']))
    expect(parameters.find(({ name }) => name === 'pageSize')?.schema.maximum, operationId).toBe(largestPage)
  }
})

/** Returns the parameter's schema with the `deprecated` of the parameter. */
function flagged({ schema, deprecated }: Parameter): Schema {
  return { ...schema, deprecated: deprecated ?? false }
}

/** Returns the table of a body, where fields with a default are not required. */
function withDefaults(name: string) {
  const entries = Object.entries(bodies[name] ?? {})
  return Object.fromEntries(
    entries.map(([field, documented]) => [
      field,
      documented.default === undefined ? documented : { ...documented, optional: true as const },
    ]),
  )
}

function optionalDefaults(where: string, schema: Schema, seen = new Set<Schema>()): string[] {
  const resolved = resolve(schema)
  if (seen.has(resolved)) return []
  seen.add(resolved)
  const properties = Object.entries(resolved.properties ?? {})
  const mine = properties.filter(([name, property]) => 'default' in property && !resolved.required?.includes(name))
  const within = [resolved.items ?? [], resolved.anyOf ?? [], resolved.oneOf ?? []].flat()
  return [
    ...mine.map(([name]) => `${where} ${name}`),
    ...[...within, ...properties.map(([, property]) => property)].flatMap((part) =>
      optionalDefaults(where, part, seen),
    ),
  ]
}
