import { z } from 'zod'
import type { PublicOperation } from './operation.ts'

export const getIcon = {
  kind: 'public',
  id: 'getIcon',
  method: 'get',
  path: '/icons',
  summary: 'Retrieve the icon of a site',
  description:
    'Returns the icon of a public site as an image, cached for a day, so that a page which shows many links calls no foreign host. A site without a readable icon has a default icon; it is looked up again after ten minutes. Requires no key and is rate limited per visitor.',
  tag: 'Metatags',
  query: z.object({
    host: z.string().max(260).describe('Host name of the site, such as `example.com`. A URL is not accepted.'),
  }),
  contents: ['image/png', 'image/x-icon', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'],
  requestsPerMinute: 600,
} as const satisfies PublicOperation
