import { posix } from 'node:path'
import type { Source } from './source.ts'
import { type Check, fileInFeature, findNoun, isStore, type Tree } from './tree.ts'

const platformFilesWithSql =
  /^server\/src\/platform\/(postgres|clickhouse|migrate|outbox|handled-events|dead-letters|idempotency|incarnation|health)\.ts$/
const databasePackage = /^(pg|kysely|@clickhouse\/client)(\/|$)/
const kyselyCall = /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\s*[(<]/
// Title Case is allowed in sentences such as "Select a folder from the list".
const sqlStart =
  /^\s*(?:(?:select|SELECT)\b[\s\S]*\b(?:from|FROM)\b|(?:insert into|INSERT INTO|delete from|DELETE FROM)\b|(?:update|UPDATE)\s+\S+\s+(?:set|SET)\b|(?:with|WITH)\s+\w+\s+(?:as|AS)\s*\(|(?:create|CREATE|alter|ALTER|drop|DROP|truncate|TRUNCATE)\s+(?:table|TABLE)\b)/
const workspace = /workspace_?id/i
const tableInSql = /\b(?:from|join|into|update|table)\s+(?:only\s+)?(?:"?\w+"?\.)?"?(\w+)"?/gi

export const tableChecks = {
  'sql-in-stores': ({ product }) =>
    product
      .filter(({ path }) => path.startsWith('server/src/') && !mayContainSql(path))
      .flatMap((source) => {
        const text = source.strings.find(({ value, isTaggedSql }) => isTaggedSql || sqlStart.test(value))
        const driver = source.imports.find(({ target }) => databasePackage.test(target) && findNoun(source.path))
        const offset = text?.offset ?? source.code.match(kyselyCall)?.index ?? driver?.offset
        const message = 'contains SQL, which only store.ts, <part>-store.ts and where.ts of a feature may'
        return offset === undefined ? [] : [{ source, offset, message }]
      }),

  'one-owner-per-table': ({ product, tables }) => {
    const ownersByTable = new Map<string, Map<string, Source>>()
    for (const source of product.filter(({ path }) => mayContainSql(path))) {
      for (const table of tablesIn(source.strings, tables)) {
        const owners = ownersByTable.get(table) ?? new Map<string, Source>()
        const owner = findNoun(source.path) ?? 'platform'
        ownersByTable.set(table, owners.has(owner) ? owners : owners.set(owner, source))
      }
    }
    return [...ownersByTable].flatMap(([table, owners]) => {
      const nouns = [...owners.keys()].sort((one, other) => Number(other === table) - Number(one === table))
      // PostgreSQL and ClickHouse may each have a table of the same name, such as links, each with its own owner.
      const intruders = nouns.slice(tables.get(table)?.engines.size)
      const message = `uses the table ${table}, which belongs to ${nouns[0]}; call its service`
      return intruders.flatMap((noun) => ({ source: owners.get(noun) as Source, message }))
    })
  },

  'workspace-first': ({ product, tables }) =>
    product
      .filter(({ path }) => isStore(fileInFeature(path)))
      .flatMap((source) =>
        findDeclarations(source).flatMap(({ name, start, end }) => {
          const strings = source.strings.filter(({ offset }) => offset >= start && offset < end)
          const owned = tablesIn(strings, tables).filter((table) => tables.get(table)?.hasWorkspace)
          const isForAll = /\bAllWorkspaces(Db|ClickHouse)\b/.test(source.code.slice(start, end)) || isPart(name)
          if (owned.length === 0 || isForAll || carriesWorkspace(source, start, end, product)) return []
          const message = `${name} queries ${owned.join(', ')} without a workspace; take a workspaceId, or an AllWorkspacesDb or AllWorkspacesClickHouse`
          return [{ source, offset: source.text.indexOf(name, start), message }]
        }),
      ),
} satisfies Record<string, Check>

/** Whether a string is only part of a statement, whose other parts have the workspace, or a list of table names. */
function isPart(name: string): boolean {
  return /(Fragment|Tables)$/.test(name)
}

function mayContainSql(path: string): boolean {
  return isStore(fileInFeature(path)) || platformFilesWithSql.test(path)
}

function tablesIn(strings: Source['strings'], tables: Tree['tables']): string[] {
  const names = strings.flatMap(({ value, isWhole }) => {
    const alone = isWhole && value.match(/^(\w+)(?: as \w+)?$/)?.[1]
    return alone ? [alone] : [...value.matchAll(tableInSql)].map((match) => match[1] ?? '')
  })
  return [...new Set(names)].filter((name) => tables.has(name))
}

/** Whether a statement has the workspace: in its own text, in a condition of where.ts, or in the type of the inserted rows. */
function carriesWorkspace(source: Source, start: number, end: number, product: Source[]): boolean {
  const body = source.text.slice(start, end)
  if (workspace.test(body)) return true
  const where = product.find(({ path }) => path === posix.join(posix.dirname(source.path), 'where.ts'))
  const namesWhere = /(?<!\.)\bwhere/i.test(source.code.slice(start, end))
  if (where && workspace.test(where.text) && namesWhere) return true
  const isInsert = /\binsert/i.test(body) && !/\b(select|update|delete)/i.test(body)
  return isInsert && typesWithWorkspace(source).some((name) => new RegExp(`\\b${name}\\b`).test(body))
}

function typesWithWorkspace({ code }: Source): string[] {
  const names: string[] = []
  for (const { 1: name = '', index } of code.matchAll(/^(?:export\s+)?(?:type|interface)\s+(\w+)/gm)) {
    const declaration = code.slice(index).split(/\n(?=[a-z/])/, 1)[0] ?? ''
    if (new RegExp(`\\b(${['workspace_id', ...names].join('|')})\\b`).test(declaration)) names.push(name)
  }
  return names
}

/** Returns top-level declarations, each from the comment above it to the next declaration. */
function findDeclarations({ code, text }: Source): { name: string; start: number; end: number }[] {
  const heads = [...code.matchAll(/^(?:export\s+)?(?:async\s+)?(?:function\*?|const|let)\s+(\w+)/gm)]
  const starts = heads.map((head) => text.slice(0, head.index).trimEnd().length)
  return heads.map((head, index) => ({
    name: head[1] ?? '',
    start: starts[index] ?? 0,
    end: starts[index + 1] ?? text.length,
  }))
}
