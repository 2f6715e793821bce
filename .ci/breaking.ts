import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type Direction, type Finding, findSchemaChanges, type Schema } from './breaking-schema.ts'
import { unreleasedLines } from './changelog.ts'

type Media = Record<string, { schema?: Schema }>
type Parameter = { name: string; in: string; required?: boolean; schema?: Schema }
type Body = { required?: boolean; content?: Media }
type Operation = {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: Body
  responses?: Record<string, { content?: Media }>
}
type Paths = Record<string, Record<string, Operation>>
export type Document = { paths?: Paths; webhooks?: Paths; components?: { schemas?: Record<string, Schema> } }

/** An API change that clients may notice. A CHANGELOG line can refer to its operation by any of `names`. */
export type Change = Finding & { names: string[] }

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** Compares two OpenAPI documents from the view of a client of the first. */
export function findChanges(before: Document, after: Document): Change[] {
  const documents = { before, after }
  return [
    ...comparePaths(before.paths, after.paths, (one, other) => compareOperation(documents, one, other)),
    // For webhooks the roles are reversed: the client reads the request body.
    ...comparePaths(before.webhooks, after.webhooks, (one, other) =>
      compareMedia(documents, one.requestBody?.content, other.requestBody?.content, 'response', 'payload'),
    ),
  ]
}

/** Returns breaking changes without a CHANGELOG line `- Breaking: <operation> …`. */
export function findUnannounced(changes: Change[], changelogLines: string[]): Change[] {
  const announcements = changelogLines.filter((line) => /^\s*(- )?Breaking: /.test(line))
  const isAnnounced = ({ names }: Change) => announcements.some((line) => names.some((name) => namesWhole(line, name)))
  return changes.filter((change) => change.breaks && !isAnnounced(change))
}

/** Matches whole names only: `GET /links/{id}` does not mention `GET /links`. */
function namesWhole(line: string, name: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w/{}-])${escaped}(?![\\w/{}-])`).test(line)
}

function comparePaths(
  before: Paths = {},
  after: Paths = {},
  compare: (before: Operation, after: Operation) => Finding[],
): Change[] {
  const byShape = new Map(Object.entries(after).map(([path, item]) => [pathShape(path), item]))
  return Object.entries(before).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      const name = `${method.toUpperCase()} ${path}`
      const names = [name, ...(operation.operationId ? [operation.operationId] : [])]
      const other = byShape.get(pathShape(path))?.[method]
      const findings = other ? compare(operation, other) : [{ where: '', what: 'is removed', breaks: true }]
      return findings.map((finding) => ({ ...finding, names }))
    }),
  )
}

/** Clients fill in path parameters by position, so their names may change. */
function pathShape(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}')
}

type Documents = { before: Document; after: Document }

function compareOperation(documents: Documents, before: Operation, after: Operation): Finding[] {
  return [
    ...compareParameters(documents, before.parameters, after.parameters),
    ...compareBody(documents, before.requestBody, after.requestBody),
    ...Object.entries(before.responses ?? {}).flatMap(([status, response]) => {
      const other = after.responses?.[status]
      const where = `response ${status}`
      if (!other) return [{ where, what: 'is removed', breaks: true }]
      return compareMedia(documents, response.content, other.content, 'response', where)
    }),
  ]
}

function compareParameters(documents: Documents, before: Parameter[] = [], after: Parameter[] = []): Finding[] {
  const find = (parameters: Parameter[], one: Parameter) =>
    parameters.find((other) => other.name === one.name && other.in === one.in)
  const inPath = (parameters: Parameter[]) => parameters.filter((one) => one.in === 'path')
  const where = (one: Parameter) => `${one.in} parameter ${one.name}`
  const shared = before.flatMap((one) => {
    const other = find(after, one) ?? inPath(after)[inPath(before).indexOf(one)]
    if (!other) return [{ where: where(one), what: 'is removed', breaks: true }]
    const required =
      other.required && !one.required ? [{ where: where(one), what: 'is now required', breaks: true }] : []
    return [...required, ...compare(documents, one.schema, other.schema, 'request', where(one))]
  })
  const added = after.filter((one) => one.required && one.in !== 'path' && !find(before, one))
  return [...shared, ...added.map((one) => ({ where: where(one), what: 'is new and required', breaks: true }))]
}

function compareBody(documents: Documents, before: Body | undefined, after: Body | undefined): Finding[] {
  const where = 'request body'
  if (!before) return after?.required ? [{ where, what: 'is new and required', breaks: true }] : []
  if (!after) return [{ where, what: 'is removed', breaks: true }]
  const required = after.required && !before.required ? [{ where, what: 'is now required', breaks: true }] : []
  return [...required, ...compareMedia(documents, before.content, after.content, 'request', where)]
}

function compareMedia(
  documents: Documents,
  before: Media = {},
  after: Media = {},
  direction: Direction,
  where: string,
): Finding[] {
  return Object.entries(before).flatMap(([type, { schema }]) => {
    const other = after[type]
    if (!other) return [{ where, what: `no longer has the type ${type}`, breaks: true }]
    return compare(documents, schema, other.schema, direction, where)
  })
}

function compare(
  { before, after }: Documents,
  one: Schema = {},
  other: Schema = {},
  direction: Direction,
  where: string,
): Finding[] {
  const schemas = { before: before.components?.schemas ?? {}, after: after.components?.schemas ?? {} }
  return findSchemaChanges(schemas, direction, one, other, where)
}

function formatChange({ names: [name], where, what }: Change): string {
  return [name, where && `${where}:`, what].filter(Boolean).join(' ')
}

function git(...words: string[]): string | undefined {
  try {
    return execFileSync('git', words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 2 ** 20,
    })
  } catch {
    return undefined
  }
}

function check(): { isFine: boolean; lines: string[] } {
  const file = 'contract/openapi.json'
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v*')?.trim()
  const released = tag && git('show', `${tag}:${file}`)
  if (!released) return { isFine: true, lines: [`no release to compare ${file} with`] }
  const changes = findChanges(JSON.parse(released), JSON.parse(readFileSync(file, 'utf8')))
  const warnings = changes.filter(({ breaks }) => !breaks).map((change) => `Warning: ${formatChange(change)}`)
  const unannounced = findUnannounced(changes, unreleasedLines(readFileSync('CHANGELOG.md', 'utf8')))
  const [first] = unannounced
  if (!first) return { isFine: true, lines: [...warnings, `no unannounced breaking change since ${tag}`] }
  const remedy = `These changes break a client of ${tag}. Revert them, or announce each operation below "## Unreleased" in CHANGELOG.md: - Breaking: ${first.names[0]} …`
  return {
    isFine: false,
    lines: [...warnings, ...unannounced.map((change) => `Breaking: ${formatChange(change)}`), remedy],
  }
}

if (import.meta.main) {
  const { isFine, lines } = check()
  for (const line of lines) console.log(line)
  process.exitCode = isFine ? 0 : 1
}
