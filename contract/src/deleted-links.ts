import { z } from 'zod'
import { instant, listing } from './common.ts'
import { link } from './links.ts'
import { operation } from './operation.ts'

export const deletedLink = z
  .strictObject({
    link: link.describe('The link as it was when it was deleted.'),
    deletedAt: instant,
    restorableUntil: instant.describe('Until then, `POST /links/{linkId}/restore` restores the link.'),
  })
  .meta({ id: 'DeletedLink' })
export type DeletedLink = z.infer<typeof deletedLink>

export const listDeletedLinks = operation({
  id: 'listDeletedLinks',
  method: 'get',
  path: '/links/deleted',
  summary: 'List deleted links',
  description: 'Lists links that were deleted in the last 30 days and can be restored, last deleted first.',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({
    domain: z.string().max(190).optional().describe('Only links of this host.'),
    search: z.string().max(500).optional().describe('Only links whose short URL or destination contains this text.'),
    ...listing(100, ['deletedAt'], 'desc'),
  }),
  response: z.array(deletedLink),
})
export type DeletedLinksQuery = z.output<typeof listDeletedLinks.query>

export const restoreLink = operation({
  id: 'restoreLink',
  method: 'post',
  path: '/links/{linkId}/restore',
  summary: 'Restore a deleted link',
  description:
    'Restores a link within 30 days after its deletion, with its id, counters and tags. The response is 409 if another link has its domain and key, or its external id, meanwhile. A link that is not deleted stays as it is.',
  tag: 'Links',
  scope: 'links.write',
  params: z.object({ linkId: z.string().describe('Id of the link.') }),
  response: link,
})
