import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'

const fields = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe(
    'Changed fields by name. An object `{ "redacted": "…" }` replaces a `secret`, a `personal` value, a folder that is `hidden` from you, and values of a change that exceeds its `size`.',
  )

export const linkChange = z
  .strictObject({
    at: instant,
    actor: z.strictObject({ kind: z.string().describe('`key`, `user` or `app`.'), id: z.string() }),
    operation: z.string().describe('Id of the API operation, such as `updateLink`.'),
    before: fields,
    after: fields,
  })
  .meta({ id: 'LinkChange' })
export type LinkChange = z.infer<typeof linkChange>

export const listLinkHistory = operation({
  id: 'listLinkHistory',
  method: 'get',
  path: '/links/{linkId}/history',
  summary: 'List the changes of a link',
  description:
    'Lists who changed a link through the API, when, and the changed fields before and after, newest first. A change appears within a second and is available for as long as the audit log retains it, also for 30 days after the link was deleted.',
  tag: 'Links',
  scope: 'links.read',
  params: z.object({ linkId: z.string().describe('Id of the link, or its external id prefixed with `ext_`.') }),
  query: z.object(listing(50, ['at'], 'desc')),
  response: z.array(linkChange),
})
export type LinkHistoryQuery = z.output<typeof listLinkHistory.query>
