import { z } from 'zod'
import { operation } from './operation.ts'

const slugProblems = ['taken', 'invalid', 'reserved'] as const

export const slugCheck = z
  .strictObject({
    domain: z.string(),
    key: z.string().describe('The slug as it would be stored.'),
    isAvailable: z.boolean(),
    problem: z.enum(slugProblems).nullable(),
    message: z.string().nullable().describe('Why the slug is not available.'),
    suggestion: z.string().nullable().describe('A similar slug that is free now.'),
  })
  .meta({ id: 'SlugCheck' })
export type SlugCheck = z.infer<typeof slugCheck>

export const checkSlug = operation({
  id: 'checkSlug',
  method: 'get',
  path: '/links/slug-check',
  summary: 'Check a slug',
  description:
    'Says whether a new link can have this slug, and suggests another if not. Nothing is reserved: `POST /links` may still return 409.',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({
    domain: z
      .string()
      .max(190)
      .optional()
      .describe("Host of the short link; the workspace's primary domain when omitted."),
    key: z.string().max(1_000).describe('Slug to check.'),
  }),
  response: slugCheck,
})
export type SlugQuery = z.output<typeof checkSlug.query>
