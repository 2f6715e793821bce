import { z } from 'zod'
import { instant, listing } from './common.ts'
import { bulkFilter } from './link-filters.ts'
import { bulkPatch, link } from './links.ts'
import { operation } from './operation.ts'

const ids = (most: number) => z.array(z.string().max(255)).min(1).max(most)

const actions = ['update', 'replaceInUrl', 'move', 'addTags', 'removeTags', 'delete'] as const
const statuses = ['dryRun', 'running', 'done', 'failed', 'canceled', 'undoing', 'undone'] as const
const count = z.number().int()
const replacement = z.strictObject({
  find: z.string().min(1).max(2_000).describe('Text in the destination; upper and lower case differ.'),
  replaceWith: z.string().max(2_000).describe('Text that replaces each occurrence.'),
})

export const newBulkOperation = z
  .object({
    action: z
      .enum(actions)
      .describe(
        '`update` needs `data`, `replaceInUrl` needs `replace`, `move` needs `folderId`, `addTags` and `removeTags` need `tagIds`.',
      ),
    filter: bulkFilter.describe(
      'Selects links as `GET /links` does. Without a field, it selects all links that are not archived.',
    ),
    data: bulkPatch.optional().describe('The fields to change, as in `PATCH /links/bulk`.'),
    replace: replacement.optional().describe('What to replace in the destination `url` of each link.'),
    folderId: z.string().max(255).nullish().describe('Folder to move the links to; null for no folder.'),
    tagIds: ids(100).optional().describe('Tags to add to the links, or to remove.'),
    dryRun: z
      .boolean()
      .default(false)
      .describe('Changes nothing: returns the number of links, and what would change in ten of them.'),
  })
  .meta({ id: 'NewBulkOperation' })
export type NewBulkOperation = z.output<typeof newBulkOperation>

export const bulkOperation = z
  .strictObject({
    id: z.string().nullable().describe('Id of the operation; null for a dry run.'),
    status: z.enum(statuses),
    action: z.enum(actions),
    filter: bulkFilter,
    data: z.record(z.string(), z.unknown()).nullable().describe('The changed fields; a password is null.'),
    replace: replacement.nullable(),
    folderId: z.string().nullable(),
    tagIds: z.array(z.string()).nullable(),
    total: count.describe('Links that matched the filter when the operation was created.'),
    processed: count.describe('Links that the operation, or its undo, has handled.'),
    changed: count,
    unchanged: count.describe('Links that had these values already.'),
    failed: count.describe('Links that could not be changed; `problems` has the first of them.'),
    undone: count.describe('Links that have their former values again.'),
    conflicts: count.describe('Links that somebody changed after the operation, so that undo left them as they are.'),
    problems: z
      .array(z.strictObject({ linkId: z.string(), message: z.string() }))
      .describe('Why links were not changed, or not undone; up to 100, and for a day. Empty in lists.'),
    error: z.string().nullable().describe('Why the operation failed.'),
    sample: z
      .array(z.strictObject({ before: link, after: link.nullable() }))
      .describe('For a dry run, up to ten links before and after; `after` is null if the link would be deleted.'),
    actor: z.strictObject({ kind: z.string(), id: z.string() }),
    createdAt: instant,
    finishedAt: instant.nullable(),
    undoableUntil: instant.nullable().describe('Until then, the operation can be undone; null if it can not.'),
  })
  .meta({ id: 'BulkOperation' })
export type BulkOperation = z.infer<typeof bulkOperation>

const shared = { tag: 'Bulk operations' } as const
const params = z.object({ id: z.string().describe('Id of the operation.') })

export const createBulkOperation = operation({
  ...shared,
  id: 'createBulkOperation',
  method: 'post',
  path: '/bulk-operations',
  summary: 'Change all links that match a filter',
  description:
    'Updates, moves, tags or deletes up to 100,000 links in the background; `GET /bulk-operations/{id}` shows the progress. Each link changes once, or not at all. A workspace can have three operations in progress.',
  scope: 'links.write',
  bodyLimit: 131_072,
  bodyValues: 3_000,
  body: newBulkOperation,
  status: 202,
  dryRunStatus: 200,
  response: bulkOperation,
})

export const listBulkOperations = operation({
  ...shared,
  id: 'listBulkOperations',
  method: 'get',
  path: '/bulk-operations',
  summary: 'List bulk operations',
  description: 'Lists the operations of the last 30 days, newest first.',
  scope: 'links.read',
  query: z.object(listing(50, ['createdAt'], 'desc')),
  response: z.array(bulkOperation),
})
export type BulkOperationsQuery = z.output<typeof listBulkOperations.query>

export const getBulkOperation = operation({
  ...shared,
  id: 'getBulkOperation',
  method: 'get',
  path: '/bulk-operations/{id}',
  summary: 'Retrieve a bulk operation',
  scope: 'links.read',
  params,
  response: bulkOperation,
})

export const cancelBulkOperation = operation({
  ...shared,
  id: 'cancelBulkOperation',
  method: 'post',
  path: '/bulk-operations/{id}/cancel',
  summary: 'Cancel a bulk operation',
  description: 'Stops a running operation. Links that it has changed stay changed; undo restores them.',
  scope: 'links.write',
  params,
  response: bulkOperation,
})

export const undoBulkOperation = operation({
  ...shared,
  id: 'undoBulkOperation',
  method: 'post',
  path: '/bulk-operations/{id}/undo',
  summary: 'Undo a bulk operation',
  description:
    'For a day after the end of an operation, gives its links their former values in the background. A workspace keeps 500 MB of former values: beyond that, its oldest operations can no longer be undone. A link whose changed fields somebody has changed since stays as it is, and `problems` names it. Deleted links are restored if their address is free.',
  scope: 'links.write',
  params,
  status: 202,
  response: bulkOperation,
})
