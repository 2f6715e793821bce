import { z } from 'zod'
import { operation } from './operation.ts'

export const metatags = z
  .strictObject({
    title: z.string().nullable(),
    description: z.string().nullable(),
    image: z.string().nullable().describe('URL of the preview image.'),
  })
  .meta({ id: 'Metatags' })
export type Metatags = z.infer<typeof metatags>

export const getMetatags = operation({
  id: 'getMetatags',
  method: 'get',
  path: '/metatags',
  summary: 'Get the metadata of a page',
  description:
    'Returns the title, description and preview image of a public page, cached for ten minutes. All three fields are null if the page cannot be read within 5 seconds.',
  tag: 'Metatags',
  scope: 'links.read',
  query: z.object({ url: z.string().max(2_000).describe('URL of the page: http or https.') }),
  response: metatags,
})
