import { z } from 'zod'
import { operation } from './operation.ts'

export const metatags = z
  .strictObject({
    title: z.string().nullable(),
    description: z.string().nullable(),
    image: z.string().nullable().describe('Address of the preview image.'),
  })
  .meta({ id: 'Metatags' })
export type Metatags = z.infer<typeof metatags>

export const getMetatags = operation({
  id: 'getMetatags',
  method: 'get',
  path: '/metatags',
  summary: 'Get the metadata of a page',
  description:
    'Title, description and preview image of a public page, kept for ten minutes. All three are null when the page cannot be read within 5 seconds.',
  tag: 'Metatags',
  scope: 'links.read',
  query: z.object({ url: z.string().max(2_000).describe('Address of the page: http or https.') }),
  response: metatags,
})
