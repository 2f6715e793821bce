import { readFileSync } from 'node:fs'
import { bodies } from './specification/bodies.ts'
import type { Field, Shape } from './specification/notation.ts'
import { shapes } from './specification/shapes.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: (string | null)[]
} & Record<string, unknown>
export type Parameter = { name: string; in: string; required?: boolean; deprecated?: boolean; schema: Schema }
type Answer = { headers?: Record<string, unknown>; content?: Record<string, { schema: Schema }> }
export type DocumentOperation = {
  operationId: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, Answer>
} & Record<`x-${string}`, unknown>
type Document = {
  info: { version: string }
  paths: Record<string, Record<string, DocumentOperation>>
  components: { schemas: Record<string, Schema> }
}

export const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as Document

const facts = ['default', 'format', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const

/** Returns the differences between a schema of the OpenAPI document and the table. */
export function differences(where: string, schema: Schema, field: Field): string[] {
  if (field.type === 'any') return []
  const { type, nullable } = schemaType(schema)
  const found: string[] = []
  const expect = (fact: string, inDocument: unknown, inTable: unknown) => {
    if (JSON.stringify(inDocument) === JSON.stringify(inTable)) return
    found.push(`${where}: ${fact} is ${JSON.stringify(inDocument)}, not ${JSON.stringify(inTable)}`)
  }
  expect('nullable', nullable, field.nullable ?? false)
  if (schema.anyOf === undefined && schema.oneOf === undefined && schema.$ref === undefined)
    expect('type', type, field.type)
  expect('enum', schema.enum?.filter((value) => value !== null).sort(), field.enum?.toSorted())
  expect('deprecated', schema.deprecated ?? false, field.deprecated ?? false)
  const bounds = { ...field, ...field.ours }
  if (field.shape === undefined) for (const fact of facts) expect(fact, schema[fact], bounds[fact])
  if (field.items) found.push(...differences(`${where}[]`, schema.items ?? {}, field.items))
  if (field.values && field.values.type !== 'any') {
    found.push(...differences(`${where}{}`, schema.additionalProperties as Schema, field.values))
  }
  if (field.shape !== undefined) found.push(...shapeDifferences(where, schema, field.shape.split(' ')))
  return found
}

/** Returns the differences between the fields of an object and the table. `additions` are fields that may be missing there. */
export function objectDifferences(where: string, schema: Schema, shape: Shape, additions: string[] = []): string[] {
  const properties = resolve(schema).properties ?? {}
  const expected = [...Object.keys(shape), ...additions].sort()
  const found: string[] = []
  if (Object.keys(properties).sort().join() !== expected.join()) {
    const extra = Object.keys(properties).filter((name) => !expected.includes(name))
    const missing = expected.filter((name) => !(name in properties))
    found.push(`${where}: extra fields [${extra}], missing fields [${missing}]`)
  }
  for (const [name, field] of Object.entries(shape)) {
    const property = properties[name]
    if (!property) continue
    const required = resolve(schema).required?.includes(name) ?? false
    if (required === (field.optional ?? false)) found.push(`${where}.${name}: required is ${required}`)
    found.push(...differences(`${where}.${name}`, property, field))
  }
  return found
}

function shapeDifferences(where: string, schema: Schema, names: string[]): string[] {
  const choices = (schema.anyOf ?? schema.oneOf ?? [schema]).filter((choice) => choice.type !== 'null')
  if (choices.length !== names.length) return [`${where}: ${choices.length} shapes, not ${names.join(', ')}`]
  return choices.flatMap((choice, index) => {
    const name = names[index] as string
    const component = choice.$ref?.split('/').at(-1)
    // Shared schemas are compared once, so here only the name is.
    if (component !== undefined) return component === name ? [] : [`${where}: shape ${component}, not ${name}`]
    const shape = shapes[name] ?? bodies[name]
    return shape ? objectDifferences(where, choice, shape) : [`${where}: no table has the shape ${name}`]
  })
}

export function resolve(schema: Schema): Schema {
  const component = schema.$ref?.split('/').at(-1)
  return component === undefined ? schema : (document.components.schemas[component] as Schema)
}

function schemaType(schema: Schema): { type: string | undefined; nullable: boolean } {
  const types = [schema.type ?? []].flat()
  const [type] = types.filter((name) => name !== 'null')
  const nullable = types.includes('null') || (schema.anyOf ?? schema.oneOf ?? []).some(({ type }) => type === 'null')
  return { type: type === 'integer' ? 'number' : type, nullable }
}
