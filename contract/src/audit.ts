import { z } from 'zod'
import { instant, listing } from './common.ts'
import { defaultActors, operation, type StreamOperation } from './operation.ts'

const fields = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe(
    'Fields by name. An object `{ "redacted": "…" }` replaces a `secret`, a `personal` value that you may not read, a value that was `erased`, and values of an entry that would exceed its `size`.',
  )

export const auditEntry = z
  .strictObject({
    sequence: z.number().int().describe('Position of the entry, from 1 without gaps.'),
    at: instant,
    actor: z.strictObject({
      kind: z.string().describe('`key`, `user`, `app` or `system`.'),
      id: z.string(),
      name: z
        .string()
        .nullable()
        .describe('Name of the user or key; null when you may not read personal values, or when it was erased.'),
      credential: z.string().nullable().describe('Id of the API key or session that the actor used.'),
      network: z
        .string()
        .nullable()
        .describe('Network of the client; null when you may not read personal values, or when it was erased.'),
    }),
    operation: z.string().describe('Id of the API operation, such as `updateLink`, or the name of another action.'),
    target: z.strictObject({
      kind: z.string().describe('First word of the path, such as `links`.'),
      ids: z.array(z.string()).describe('Ids of the changed objects, a thousand at most.'),
    }),
    requestId: z.string().nullable().describe('`X-Request-Id` of the request.'),
    changes: z.array(
      z.strictObject({
        kind: z.string(),
        id: z.string(),
        before: fields,
        after: fields,
      }),
    ),
    hash: z.string().describe('Hash over this entry and all before it, as hexadecimal digits.'),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof auditEntry>

const filters = {
  actorId: z.string().max(200).optional().describe('Only entries of this actor.'),
  operation: z.string().max(200).optional().describe('Only entries of this operation.'),
  targetId: z.string().max(200).optional().describe('Only entries about this object.'),
  start: z.iso.datetime({ offset: true }).optional().describe('Only entries at or after this time.'),
  end: z.iso.datetime({ offset: true }).optional().describe('Only entries before this time.'),
}

const description =
  'Every change of the workspace through the API, and every export, appears within a second. Entries never change. Personal values are for owners, admins and keys with the scope `apis.all`.'

export const listAuditLog = operation({
  id: 'listAuditLog',
  method: 'get',
  path: '/audit-log',
  summary: 'List audit log entries',
  description: `Lists who changed what, newest first. ${description}`,
  tag: 'Audit log',
  scope: 'audit.read',
  query: z.object({
    ...filters,
    cursor: z
      .string()
      .regex(/^\d{1,18}$/)
      .optional()
      .describe('Cursor, instead of `page`: `X-Next-Cursor` of the previous response.'),
    ...listing(100, ['sequence'], 'desc'),
  }),
  response: z.array(auditEntry),
  responseHeaders: { 'X-Next-Cursor': 'Cursor of the next page; absent on the last page.' },
})
export type AuditLogQuery = z.output<typeof listAuditLog.query>

const exportQuery = z.object({
  format: z.enum(['csv', 'json']).default('csv').describe('`csv` or `json` (one object per line).'),
  ...filters,
})
export type AuditExportQuery = z.output<typeof exportQuery>

export const exportAuditLog = {
  kind: 'stream',
  id: 'exportAuditLog',
  method: 'get',
  path: '/audit-log/export',
  summary: 'Export the audit log',
  description: `Streams all entries, oldest first. ${description}`,
  tag: 'Audit log',
  actors: defaultActors,
  scope: 'audit.read',
  limit: 'export',
  plan: 'free',
  query: exportQuery,
  contents: ['text/csv', 'application/x-ndjson'],
  openPerActor: 2,
} as const satisfies StreamOperation
