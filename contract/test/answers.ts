import type { Field, Shape } from './specification/notation.ts'
import { shapes } from './specification/shapes.ts'

/** Lists differences between a response and the table: extra or missing keys, wrong types, nulls, other values. */
export function problems(where: string, value: unknown, field: Field): string[] {
  if (value === null) return field.nullable || field.type === 'any' ? [] : [`${where} is null`]
  if (field.type === 'any') return []
  if (!isOfType(value, field)) return [`${where} is ${JSON.stringify(value)?.slice(0, 60)}, not a ${field.type}`]
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => problems(`${where}[${index}]`, item, field.items ?? { type: 'any' }))
  }
  if (typeof value === 'object') return objectProblems(where, value as Record<string, unknown>, field)
  return scalarProblems(where, value, field)
}

function scalarProblems(where: string, value: unknown, field: Field): string[] {
  if (field.enum && !field.enum.includes(value as string)) return [`${where} is ${value}, not one of ${field.enum}`]
  if (field.format === 'uri' && !URL.canParse(value as string)) return [`${where} is not a URL: ${value}`]
  const { minimum = -Infinity, maximum = Infinity } = field
  if (field.type === 'number' && !((value as number) >= minimum && (value as number) <= maximum)) {
    return [`${where} is ${value}, not between ${minimum} and ${maximum}`]
  }
  return []
}

function objectProblems(where: string, value: Record<string, unknown>, field: Field): string[] {
  if (field.values) {
    const { values } = field
    return Object.entries(value).flatMap(([name, item]) => problems(`${where}.${name}`, item, values))
  }
  const names = field.shape?.split(' ') ?? []
  const attempts = names.map((name) => closedProblems(`${where} (${name})`, value, shapes[name] as Shape))
  return attempts.toSorted((one, other) => one.length - other.length)[0] ?? []
}

function closedProblems(where: string, value: Record<string, unknown>, shape: Shape): string[] {
  const extra = Object.keys(value).filter((name) => !(name in shape))
  const missing = Object.keys(shape).filter((name) => !(name in value) && !shape[name]?.optional)
  return [
    ...extra.map((name) => `${where} has the extra key ${name}`),
    ...missing.map((name) => `${where} lacks the key ${name}`),
    ...Object.entries(shape).flatMap(([name, field]) =>
      name in value ? problems(`${where}.${name}`, value[name], field) : [],
    ),
  ]
}

function isOfType(value: unknown, { type }: Field): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value)
  return typeof value === type
}
