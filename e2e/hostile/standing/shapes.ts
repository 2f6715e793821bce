import type { Operation } from '@tributary/contract/operation'
import { z } from 'zod'

/** A JSON Schema without references; `{}` allows anything. */
export type Shape = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Shape[]
  allOf?: Shape[]
  properties?: Record<string, Shape>
  required?: string[]
  additionalProperties?: Shape | boolean
  propertyNames?: Shape
  items?: Shape
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  pattern?: string
  format?: string
}
export type Shapes = {
  operation: Operation
  names: string[]
  query: Record<string, Shape>
  requiredQuery: string[]
  body?: Shape
  bodyLimit: number
  bodyValues: number
}

/** Returns what the contract accepts in the path, the query and the body of an operation. */
export function readShapes(operation: Operation): Shapes {
  const query = convert('query' in operation ? operation.query : undefined)
  const body = 'body' in operation && operation.body.def.type !== 'undefined' ? convert(operation.body) : undefined
  return {
    operation,
    names: [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string),
    query: query.properties ?? {},
    requiredQuery: query.required ?? [],
    body,
    bodyLimit: 'bodyLimit' in operation ? operation.bodyLimit : 65_536,
    bodyValues: 'bodyValues' in operation ? operation.bodyValues : 8_000,
  }
}

type Referring = Shape & { $ref?: string; oneOf?: Shape[]; $defs?: Record<string, Referring> }

function convert(schema: z.ZodType | undefined): Shape {
  if (!schema) return {}
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Referring
  return resolve(root, root.$defs ?? {}, 0)
}

/** Replaces references; schemas that contain themselves end after a few levels. */
function resolve(given: Referring, definitions: Record<string, Referring>, depth: number): Shape {
  if (depth > 12) return {}
  const { $ref, $defs, oneOf, ...own } = given
  const target = $ref?.startsWith('#/$defs/') ? definitions[$ref.slice(8)] : undefined
  if (target) return resolve({ ...target, ...own }, definitions, depth + 1)
  const into = (shape: Shape) => resolve(shape, definitions, depth + 1)
  const { properties, items, anyOf = oneOf, allOf, additionalProperties, propertyNames } = own as Shape & Referring
  return {
    ...own,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, into(shape)])),
    }),
    ...(items && { items: into(items) }),
    ...(anyOf && { anyOf: anyOf.map(into) }),
    ...(allOf && { allOf: allOf.map(into) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: into(additionalProperties) }),
    ...(propertyNames && { propertyNames: into(propertyNames) }),
  }
}
