import { posix } from 'node:path'
import type { Source } from './source.ts'
import { type Check, fileInFeature, findFloor } from './tree.ts'

/** The closed list of platform files, described in docs/adr/0008. Adding a file needs an ADR. */
// docs/adr/0008 describes each of them.
const platformFiles = [
  ...['config', 'context', 'errors', 'http', 'jobs', 'postgres', 'clickhouse', 'nats', 'valkey', 'outbox', 'log'],
  ...['metrics', 'clock', 'ids', 'idempotency', 'rate-limit', 'health', 'migrate', 'batches', 'handles'],
  ...[
    'answers',
    'body',
    'byte-cache',
    'callers',
    'channel',
    'client-address',
    'credentials',
    'csv',
    'dead-letters',
    'dns',
    'download',
    'email',
    'engine-versions',
    'geo',
    'handled-events',
    'incarnation',
    'listen',
    'locks',
    'memo',
    'metrics-text',
    'native-format',
    'object-storage',
    'ops',
    'otlp',
    'outbound',
    'query-string',
    'ranges',
    'recording',
    'refusal',
    'row-binary',
    'schedule',
    'seal',
    'settings',
    'streams',
    'supervisor',
    'tracing',
    'validation',
  ],
].map((name) => `server/src/platform/${name}.ts`)

const environmentReaders = ['server/src/platform/config.ts', 'cli/src/config.ts']
const networkCallers = /^(server\/src\/platform\/|contract\/src\/client\.ts$|cli\/|dashboard\/|tracker\/)/
const forbiddenFolder = /^(lib|libs|utils?|helpers?|shared|common|core|misc|legacy|ee|v\d+|new-.+)$/
const forbiddenFile = /^(lib|utils?|helpers?|shared|common|core|misc|types|constants)\.tsx?$/
const duties = /^(routes|jobs|service|store|messages)\.ts$/
const maxLines = 400

export const shapeChecks = {
  'known-places': perProductFile(({ path }) => {
    if (!path.startsWith('server/src/') || findFloor(path) !== undefined) return false
    return 'is in the wrong folder: server/src has only main.ts, roles/*.ts, commands/*.ts, features/<noun>/, maintenance/ and platform/'
  }),

  'platform-closed': perProductFile(({ path }) => {
    if (findFloor(path) !== 1 || platformFiles.includes(path)) return false
    return 'is not on the closed list of platform files; move it to a feature, or extend the list with an ADR'
  }),

  'feature-files': perProductFile(({ path }) => {
    const [name = '', ...folders] = fileInFeature(path).split('/').reverse()
    if (folders.length > 1) return 'is two folders below its feature; one is the maximum'
    if (folders.length === 1 && duties.test(name))
      return `is a second ${name} of its feature; consider a second feature`
    return (
      folders.length === 0 &&
      name === 'schema.ts' &&
      'is not a file of a feature: API types belong in contract, row types in store.ts'
    )
  }),

  'forbidden-names': perFile(({ path }) => {
    const name = posix.basename(path)
    const folder = posix
      .dirname(path)
      .split('/')
      .find((part) => forbiddenFolder.test(part))
    if (folder) return `is in ${folder}/, a name without meaning; move it to a feature`
    const isForbidden = forbiddenFile.test(name) && path !== 'contract/src/common.ts'
    return isForbidden && 'has a name without meaning; name it after what it computes, or move it to a feature'
  }),

  'no-barrels': perFile((source) => {
    const isIndex = /^index\.tsx?$/.test(posix.basename(source.path)) && source.path !== 'contract/src/index.ts'
    if (isIndex) return 'only re-exports other files; import those directly'
    const advice = 're-exports; import the other file directly, or write the function here'
    return (
      found(source, /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b/m, advice) ||
      (source.path.startsWith('server/src/') && found(source, /^export\s+(?:type\s+)?\{/m, advice))
    )
  }),

  'file-size': perFile(({ lineCount, firstLine }) => {
    if (lineCount <= maxLines || /^(\/\/|\/\*).{15}/.test(firstLine)) return false
    return `has ${lineCount} lines, more than ${maxLines}; split it, or state the reason in a comment on its first line`
  }),

  'environment-in-config': perProductFile((source) => {
    if (environmentReaders.includes(source.path)) return false
    const advice = 'reads environment variables, which only platform/config.ts may do; take the value as an argument'
    return (
      found(source, /\bprocess\s*\??\.\s*env\b/, advice) ||
      found(source, /\{[^}]*\benv\b[^}]*\}\s*from\s*['"]node:process['"]/, advice)
    )
  }),

  'no-base-class': perProductFile((source) => {
    const advice = 'defines a class; use functions and arguments'
    return (
      found(source, /\bgetInstance\b/, advice) || found(source, /\bclass\s+(?:\w+\s+)?extends\s+(?!\w*Error\b)/, advice)
    )
  }),

  'connects-on-import': perProductFile((source) => {
    if (!source.path.startsWith('server/src/') || findFloor(source.path) === 4) return false
    const connection =
      /^(?:export\s+)?(?:const|let)\s+\w+[^\n=]*=\s*(?:await\b|new\s+(?:\w+\.)?(?:Pool|Redis|Kysely)\b|createClient\s*\(|connect\s*\()/m
    return found(source, connection, 'opens a connection when imported; open it in a function that a role calls')
  }),

  'outgoing-network': perProductFile((source) => {
    if (networkCallers.test(source.path)) return false
    const advice = 'calls the network, which only the platform file that blocks private addresses may do'
    return (
      found(
        source,
        /(?<![\w.$])fetch\s*\(|\bglobalThis\.fetch\b|\b(?:https?\.(?:request|get)|(?:net|tls)\.connect)\s*\(/,
        advice,
      ) ||
      found(
        source,
        /^import\s[^'"]*['"]undici['"]|^import\s*\{[^}]*\b(?:request|get)\b[^}]*\}\s*from\s*['"]node:https?['"]/m,
        advice,
      )
    )
  }),
} satisfies Record<string, Check>

interface Fault {
  message: string
  offset?: number
}

type Judge = (source: Source) => string | Fault | false

function perFile(judge: Judge): Check {
  return ({ sources }) => sources.flatMap((source) => judgeSource(source, judge))
}

function perProductFile(judge: Judge): Check {
  return ({ product }) => product.flatMap((source) => judgeSource(source, judge))
}

function judgeSource(source: Source, judge: Judge) {
  const fault = judge(source)
  if (!fault) return []
  return [{ source, ...(typeof fault === 'string' ? { message: fault } : fault) }]
}

/** Searches code for a pattern, but ignores matches that begin inside a string. */
function found(source: Source, pattern: RegExp, message: string): Fault | false {
  const global = new RegExp(pattern.source, `${pattern.flags}g`)
  const match = [...source.text.matchAll(global)].find(
    ({ index }) => source.code.slice(index, index + 3) === source.text.slice(index, index + 3),
  )
  return match ? { message, offset: match.index } : false
}
