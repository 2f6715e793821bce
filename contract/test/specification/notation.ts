/**
 * Notation for tables that are typed by hand from the specification, independently of the contract, so that a test can
 * compare the two. A table lists every field or parameter with its type and constraints.
 */
export type Field = {
  type: 'string' | 'number' | 'boolean' | 'array' | 'object' | 'any'
  /** Name of the table that describes an object, or each item of an array. */
  shape?: string
  items?: Field
  /** Type of a map's values. */
  values?: Field
  nullable?: true
  optional?: true
  deprecated?: true
  default?: string | number | boolean | null
  enum?: readonly string[]
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  /** Our own limits, where the specification has none. */
  ours?: Partial<Pick<Field, 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'maxItems' | 'format'>>
}
export type Shape = Record<string, Field>

export const text: Field = { type: 'string' }
export const uri: Field = { type: 'string', format: 'uri' }
export const number: Field = { type: 'number' }
export const boolean: Field = { type: 'boolean' }
/** A field with any JSON value. */
export const anything: Field = { type: 'any' }

export function choice(...values: string[]): Field {
  return { type: 'string', enum: values }
}

export function object(shape: string): Field {
  return { type: 'object', shape }
}

export function list(items: Field): Field {
  return { type: 'array', items }
}

export function map(values: Field): Field {
  return { type: 'object', values }
}

export function orNull(field: Field): Field {
  return { ...field, nullable: true }
}

export function optional(field: Field): Field {
  return { ...field, optional: true }
}

export function deprecated(field: Field): Field {
  return { ...field, deprecated: true }
}

/** A parameter with a default value, which is never required. */
export function defaulting(field: Field, value: NonNullable<Field['default']> | null): Field {
  return { ...field, default: value }
}

export function bounded(field: Field, bounds: Partial<Field>): Field {
  return { ...field, ...bounds }
}

export function ours(field: Field, bounds: NonNullable<Field['ours']>): Field {
  return { ...field, ours: bounds }
}

/** Repeats a field under several names. */
export function each(names: string, field: Field): Shape {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, field]),
  )
}
