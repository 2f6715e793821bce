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

export const previewImage = z
  .strictObject({
    image: z.string().nullable().describe('The image as a base64 data URL: PNG, JPEG, GIF or WebP.'),
  })
  .meta({ id: 'PreviewImage' })
export type PreviewImage = z.infer<typeof previewImage>

export const getPreviewImage = operation({
  id: 'getPreviewImage',
  method: 'get',
  path: '/metatags/image',
  summary: 'Get a preview image',
  description:
    'Fetches a public image of at most 1 MiB, so that a page which shows a preview calls no foreign host. `image` is null if it cannot be read within 5 seconds.',
  tag: 'Metatags',
  scope: 'links.read',
  query: z.object({ url: z.string().max(2_000).describe('URL of the image: http or https.') }),
  response: previewImage,
})
