import { once } from 'node:events'
import { type AuditEntry, exportAuditLog, listAuditLog } from '@tributary/contract/audit'
import { defineCommand } from 'citty'
import type { z } from 'zod'
import { exportEntries, listEntries } from '../features/audit/list.ts'
import { installation } from '../features/audit/record.ts'
import { verifyAudit } from '../features/audit/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import type { Config } from '../platform/config.ts'
import { systemActor } from '../platform/context.ts'
import { invalid } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { actorNames } from '../roles/actor-names.ts'
import { jsonFlag, onDatabases, print, recordCommand, table } from './run.ts'
import { auditText } from './verify-text.ts'

const filters = {
  workspace: { type: 'string', description: "Id or slug of a workspace; the installation's own entries when omitted" },
  operation: { type: 'string', description: 'Only entries of this operation' },
  actor: { type: 'string', description: 'Only entries of the actor with this id' },
  target: { type: 'string', description: 'Only entries about the object with this id' },
  start: { type: 'string', description: 'Only entries at or after this time, such as 2026-01-31T00:00:00Z' },
  end: { type: 'string', description: 'Only entries before this time' },
} as const

type Filters = { [name in keyof typeof filters]?: string }

const list = defineCommand({
  meta: { name: 'list', description: 'List entries of the audit log, newest first' },
  args: {
    ...filters,
    limit: { type: 'string', description: 'Maximum number of entries, up to 100', default: '50' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const query = parseQuery(listAuditLog.query, { ...pickFilters(args), pageSize: args.limit })
      const { entries, next } = await listEntries(await openReading(handles, args), query)
      const rows = entries.map(formatEntry)
      const more = next ? '\nThere are more entries. Next: tributary audit export' : ''
      print(args.json, entries, rows.length > 0 ? table(rows) + more : 'There are no such entries.')
    }),
})

const verify = defineCommand({
  meta: { name: 'verify', description: 'Check that entries are as they were sealed; exit code 1 when they are not' },
  args: {
    workspace: { type: 'string', description: 'Id or slug of a workspace; everything when omitted' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = args.workspace ? await requireWorkspace(handles, args.workspace) : undefined
      const found = await verifyAudit(handles, { workspaceId: workspace?.id })
      print(args.json, found, auditText(found) || 'Every entry of the audit log is as it was sealed.')
      if (found.length > 0) process.exitCode = 1
    }),
})

const exportCommand = defineCommand({
  meta: { name: 'export', description: 'Print all entries of the audit log, oldest first; the log has an entry of it' },
  args: {
    ...filters,
    format: {
      type: 'enum',
      options: ['csv', 'json'],
      description: 'csv, or json (one object per line)',
      default: 'csv',
    },
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const query = parseQuery(exportAuditLog.query, { ...pickFilters(args), format: args.format })
      const reading = await openReading(handles, args)
      const { workspaceId } = reading
      await recordCommand(handles, 'audit export', { workspaceId, target: { kind: 'audit-log', ids: [] } })
      for await (const text of exportEntries(reading, query)) {
        if (!process.stdout.write(text)) await once(process.stdout, 'drain')
      }
    }),
})

export const audit = defineCommand({
  meta: { name: 'audit', description: 'Read, check and export the audit log of a workspace or of the installation' },
  subCommands: { list, verify, export: exportCommand },
})

async function openReading(handles: { db: Db; config: Config }, { workspace }: Filters) {
  const workspaceId = workspace ? (await requireWorkspace(handles, workspace)).id : installation
  return { ...handles, workspaceId, actor: systemActor, actorNames }
}

function pickFilters({ operation, actor, target, start, end }: Filters) {
  return { operation, actorId: actor, targetId: target, start, end }
}

const optionNames: Record<string, string> = { actorId: 'actor', targetId: 'target', pageSize: 'limit' }

function parseQuery<T extends z.ZodType>(schema: T, given: object): z.output<T> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = String(issue?.path[0])
  throw invalid(`--${optionNames[name] ?? name}: ${issue?.message}.`)
}

function formatEntry({ sequence, at, actor, operation, target }: AuditEntry): Record<string, string> {
  const [first = '', ...others] = target.ids
  return {
    entry: String(sequence),
    at,
    operation,
    actor: actor.name ? `${actor.id} (${actor.name})` : actor.id,
    network: actor.network ?? '',
    target: others.length > 0 ? `${first} and ${others.length} more` : first,
  }
}
