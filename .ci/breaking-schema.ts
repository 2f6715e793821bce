/** The keywords of JSON Schema that decide whether a client breaks. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  format?: string
  pattern?: string
  minimum?: number
  exclusiveMinimum?: number
  minLength?: number
  minItems?: number
  maximum?: number
  exclusiveMaximum?: number
  maxLength?: number
  maxItems?: number
}

/** Which side reads the value: the server reads requests, the client reads responses. */
export type Direction = 'request' | 'response'
export type Finding = { where: string; what: string; breaks: boolean }

type Schemas = Record<string, Schema>
type Comparison = {
  schemas: { before: Schemas; after: Schemas }
  direction: Direction
  /** Part of the operation, such as `query parameter page` or `response 200`. */
  part: string
  /** Pairs of schema references that are being compared, to stop at recursion. */
  open: Set<string>
}

const lowerLimits = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'] as const
const upperLimits = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'] as const

export function findSchemaChanges(
  schemas: Comparison['schemas'],
  direction: Direction,
  before: Schema,
  after: Schema,
  part: string,
): Finding[] {
  return compareSchemas({ schemas, direction, part, open: new Set() }, before, after, '')
}

function compareSchemas(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  // A recursive schema is compared once per path.
  const pair = `${before.$ref} ${after.$ref}`
  if (before.$ref && after.$ref && comparison.open.has(pair)) return []
  const inner = before.$ref && after.$ref ? { ...comparison, open: new Set([...comparison.open, pair]) } : comparison
  const olds = listVariants(comparison.schemas.before, before)
  const fresh = listVariants(comparison.schemas.after, after)
  if (olds.length === 1 && fresh.length === 1) return compareVariant(inner, olds[0] ?? {}, fresh[0] ?? {}, field)
  return compareVariants(inner, olds, fresh, field)
}

/** The server must accept every variant that old clients send; clients must know every variant that they get. */
function compareVariants(comparison: Comparison, olds: Schema[], fresh: Schema[], field: string): Finding[] {
  const isRequest = comparison.direction === 'request'
  const findingsFor = (one: Schema, other: Schema) =>
    isRequest ? compareVariant(comparison, one, other, field) : compareVariant(comparison, other, one, field)
  return (isRequest ? olds : fresh).flatMap((one) => {
    const others = isRequest ? fresh : olds
    const fitting = others.map((other) => findingsFor(one, other)).filter((findings) => countBreaks(findings) === 0)
    const [best] = fitting.toSorted((left, right) => left.length - right.length)
    if (best) return best
    const alike = others.filter((other) => formatTypes(listTypes(other)) === formatTypes(listTypes(one)))
    const findings = alike.map((other) => findingsFor(one, other))
    const [closest] = findings.toSorted((left, right) => countBreaks(left) - countBreaks(right))
    if (closest && olds.length === fresh.length) return closest
    const what = `${isRequest ? 'no longer accepts' : 'can now be'} ${describeVariant(one)}`
    return [finding(comparison, field, what)]
  })
}

function compareVariant(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  const types = compareTypes(comparison, before, after, field)
  if (types.length > 0) return types
  return [
    ...compareEnums(comparison, before, after, field),
    ...(comparison.direction === 'request' ? compareLimits(comparison, before, after, field) : []),
    ...compareProperties(comparison, before, after, field),
    ...(before.items && after.items ? compareSchemas(comparison, before.items, after.items, `${field}[]`) : []),
    ...compareAdditional(comparison, before, after, field),
  ]
}

function compareTypes(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  const [old, now] = [listTypes(before), listTypes(after)]
  const [needed, allowed] = comparison.direction === 'request' ? [old, now] : [now, old]
  // Without a type, JSON Schema allows every value.
  const fits = allowed.length === 0 || (needed.length > 0 && needed.every((type) => isCovered(type, allowed)))
  return fits ? [] : [finding(comparison, field, `changes its type from ${formatTypes(old)} to ${formatTypes(now)}`)]
}

function isCovered(type: string, allowed: string[]): boolean {
  return allowed.includes(type) || (type === 'integer' && allowed.includes('number'))
}

function compareEnums(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  const [old, now] = [listValues(before), listValues(after)]
  const list = (values: string[]) => values.join(', ')
  if (comparison.direction === 'request') {
    if (!now) return []
    if (!old) return [finding(comparison, field, `accepts only ${list(now)} now`)]
    const missing = old.filter((value) => !now.includes(value))
    return missing.length > 0 ? [finding(comparison, field, `no longer accepts ${list(missing)}`)] : []
  }
  if (!old) return []
  const added = now?.filter((value) => !old.includes(value)) ?? ['any value']
  return added.length > 0 ? [finding(comparison, field, `can now be ${list(added)}`, false)] : []
}

function compareLimits(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  const removedValues = [
    ...lowerLimits.filter(
      (name) => (after[name] ?? Number.NEGATIVE_INFINITY) > (before[name] ?? Number.NEGATIVE_INFINITY),
    ),
    ...upperLimits.filter(
      (name) => (after[name] ?? Number.POSITIVE_INFINITY) < (before[name] ?? Number.POSITIVE_INFINITY),
    ),
    ...(['pattern', 'format'] as const).filter((name) => after[name] !== undefined && after[name] !== before[name]),
  ]
  return removedValues.map((name) =>
    finding(comparison, field, `changes its ${name} from ${before[name] ?? 'none'} to ${after[name]}`),
  )
}

function compareProperties(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  const isRequest = comparison.direction === 'request'
  const [required, nowRequired] = [before.required ?? [], after.required ?? []]
  const at = (name: string) => (field ? `${field}.${name}` : name)
  const shared = Object.entries(before.properties ?? {}).flatMap(([name, property]) => {
    const other = after.properties?.[name]
    if (!other) return [finding(comparison, at(name), 'is removed')]
    const findings = compareSchemas(comparison, property, other, at(name))
    if (isRequest && nowRequired.includes(name) && !required.includes(name)) {
      findings.push(finding(comparison, at(name), 'is now required'))
    }
    if (!isRequest && required.includes(name) && !nowRequired.includes(name)) {
      findings.push(finding(comparison, at(name), 'can now be missing'))
    }
    return findings
  })
  const added = isRequest ? nowRequired.filter((name) => !before.properties?.[name] && !required.includes(name)) : []
  return [...shared, ...added.map((name) => finding(comparison, at(name), 'is new and required'))]
}

function compareAdditional(comparison: Comparison, before: Schema, after: Schema, field: string): Finding[] {
  const [old, now] = [before.additionalProperties, after.additionalProperties]
  if (comparison.direction === 'request' && old !== false && old !== undefined && now === false) {
    return [finding(comparison, field, 'no longer accepts other fields')]
  }
  return typeof old === 'object' && typeof now === 'object' ? compareSchemas(comparison, old, now, `${field}.*`) : []
}

/** Lists the variants of a schema, with references resolved and `allOf` merged; each of several types is a variant. */
function listVariants(schemas: Schemas, schema: Schema, depth = 0): Schema[] {
  if (depth > 20) return [{}]
  const { $ref, anyOf, oneOf, allOf, ...own } = schema
  if ($ref) return listVariants(schemas, { ...resolve(schemas, schema), ...own }, depth + 1)
  if (allOf) return listVariants(schemas, mergeAll(schemas, allOf, own), depth + 1)
  const alternatives = anyOf ?? oneOf
  if (alternatives) return alternatives.flatMap((one) => listVariants(schemas, { ...own, ...one }, depth + 1))
  if (Array.isArray(own.type)) return own.type.map((type) => (type === 'null' ? { type } : { ...own, type }))
  return [own]
}

function mergeAll(schemas: Schemas, parts: Schema[], own: Schema): Schema {
  const all = [...parts.map((part) => resolve(schemas, part)), own]
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required }) => required ?? []),
  }
}

function resolve(schemas: Schemas, schema: Schema): Schema {
  return schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
}

function listTypes({ type, enum: values, properties }: Schema): string[] {
  if (type !== undefined) return [type].flat()
  if (properties) return ['object']
  return [...new Set((values ?? []).map((value) => (value === null ? 'null' : typeof value)))]
}

function listValues(schema: Schema): string[] | undefined {
  if ('const' in schema) return [JSON.stringify(schema.const)]
  return schema.enum?.map((value) => JSON.stringify(value))
}

function formatTypes(types: string[]): string {
  return types.join(' or ') || 'any'
}

function describeVariant(schema: Schema): string {
  const values = listValues(schema)
  if (values) return values.join(', ')
  const fields = Object.keys(schema.properties ?? {})
  const types = formatTypes(listTypes(schema))
  return fields.length > 0 ? `${types} with ${fields.slice(0, 5).join(', ')}` : types
}

function countBreaks(findings: Finding[]): number {
  return findings.filter(({ breaks }) => breaks).length
}

function finding({ part }: Comparison, field: string, what: string, breaks = true): Finding {
  return { where: field ? `${part} ${field}` : part, what, breaks }
}
