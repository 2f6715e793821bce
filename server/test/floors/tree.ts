import { readSource, type Source } from './source.ts'

export interface Tree {
  sources: Source[]
  /** The sources that ship. */
  product: Source[]
  /** The tables that migrations create. */
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

/** 4 starts, 3 composes, 2 is a noun or the operator's work on several, 1 knows no noun, 0 knows no server. */
export function findFloor(path: string): number | undefined {
  if (path === 'server/src/main.ts') return 4
  if (/^server\/src\/(roles|commands)\/[^/]+$/.test(path)) return 3
  if (findNoun(path)) return 2
  if (path.startsWith('server/src/platform/')) return 1
  return path.startsWith('contract/src/') ? 0 : undefined
}

/** The folder of floor 2 that a file lies in: a feature, or maintenance. */
export function findNoun(path: string): string | undefined {
  return path
    .match(/^server\/src\/(?:features\/([^/]+)|(maintenance))\/./)
    ?.slice(1)
    .find(Boolean)
}

/** `service.ts`, `steps/verify.ts`; empty outside of floor 2. */
export function fileInFeature(path: string): string {
  return path.match(/^server\/src\/(?:features\/[^/]+|maintenance)\/(.+)/)?.[1] ?? ''
}

/** The folder that works on several nouns for the operator: it calls features, and none calls it. */
export function isMaintenance(path: string): boolean {
  return findNoun(path) === 'maintenance'
}

/** A path within a feature. `deliveries-store.ts` is for a second table that would make `store.ts` too long. */
export function isStore(file: string): boolean {
  return /^((\w+-)?store|where)\.ts$/.test(file)
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path)
}

// NOTE ClickHouse's migrations write {table:name}, which is filled in for a cluster.
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
