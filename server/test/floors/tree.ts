import { readSource, type Source } from './source.ts'

export interface Tree {
  sources: Source[]
  /** Source files that ship, without tests. */
  product: Source[]
  /** Tables that migrations create. */
  tables: Map<string, Table>
}

export interface Table {
  engines: Set<string>
  hasWorkspace: boolean
}

export interface Finding {
  source: Source
  offset?: number
  message: string
}

export type Check = (tree: Tree) => Finding[]

export function readTree(files: Map<string, string>): Tree {
  const sources = [...files]
    .filter(([path]) => /\.tsx?$/.test(path))
    .map(([path, content]) => readSource(path, content))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
  return {
    sources,
    product: sources.filter(
      ({ path }) => /^(contract|server|dashboard|cli|tracker)\/src\//.test(path) && !isTest(path),
    ),
    tables: findTables(files),
  }
}

/** Layer of a file: 4 is main.ts, 3 roles and commands, 2 features and maintenance, 1 platform, 0 contract. */
export function findFloor(path: string): number | undefined {
  if (path === 'server/src/main.ts') return 4
  if (/^server\/src\/(roles|commands)\/[^/]+$/.test(path)) return 3
  if (findNoun(path)) return 2
  if (path.startsWith('server/src/platform/')) return 1
  return path.startsWith('contract/src/') ? 0 : undefined
}

/** Returns the feature of a file, or `maintenance`. */
export function findNoun(path: string): string | undefined {
  return path
    .match(/^server\/src\/(?:features\/([^/]+)|(maintenance))\/./)
    ?.slice(1)
    .find(Boolean)
}

/** Returns the path within a feature, such as `service.ts` or `steps/verify.ts`; empty outside of features. */
export function fileInFeature(path: string): string {
  return path.match(/^server\/src\/(?:features\/[^/]+|maintenance)\/(.+)/)?.[1] ?? ''
}

/** Whether a file is maintenance code, which calls several features for the operator and which no feature may import. */
export function isMaintenance(path: string): boolean {
  return findNoun(path) === 'maintenance'
}

/** Whether a path within a feature is a store; `deliveries-store.ts` is for a second table. */
export function isStore(file: string): boolean {
  return /^((\w+-)?store|where)\.ts$/.test(file)
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path)
}

// ClickHouse migrations write {table:name}, which expands differently on a cluster.
const tableStatement =
  /\b(?:create|alter)\s+table\s+(?:if\s+(?:not\s+)?exists\s+)?(?:"?\w+"?\.)?(?:\{table:)?"?(\w+)"?([^;]*)/gi

function findTables(files: Map<string, string>): Map<string, Table> {
  const tables = new Map<string, Table>()
  for (const [path, content] of files) {
    const engine = path.match(/^server\/migrations\/(\w+)\/.+\.sql$/)?.[1]
    if (!engine) continue
    for (const [, name = '', body = ''] of content.replace(/--.*/g, '').matchAll(tableStatement)) {
      const table = tables.get(name) ?? { engines: new Set(), hasWorkspace: false }
      table.engines.add(engine)
      table.hasWorkspace ||= /\bworkspace_id\b/.test(body)
      tables.set(name, table)
    }
  }
  return tables
}
