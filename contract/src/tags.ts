import { z } from 'zod'
import { listing, listParameter } from './common.ts'
import { operation } from './operation.ts'

export const tagColors = ['red', 'yellow', 'green', 'blue', 'purple', 'brown', 'gray', 'pink'] as const

const color = z.enum(tagColors)

export const tag = z.strictObject({ id: z.string(), name: z.string(), color }).meta({ id: 'Tag' })
export type Tag = z.infer<typeof tag>

/** Schema of a name: one line, trimmed, in Unicode NFC. */
export function label(most: number) {
  return z
    .string()
    .trim()
    .normalize('NFC')
    .max(most)
    .refine((text) => text !== '', 'it is blank')
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'it has a line break or another control character')
    .meta({ minLength: 1 })
}

const name = label(50).optional().describe('Tag name, unique in the workspace, ignoring case.')
const oldName = label(50).optional().describe('Use `name`.').meta({ deprecated: true })

export const newTag = z
  .object({ name, color: color.optional().describe('Tag colour; random when omitted.'), tag: oldName })
  .meta({ id: 'NewTag' })
export type NewTag = z.infer<typeof newTag>

export const tagPatch = z.object({ name, color: color.optional(), tag: oldName }).meta({ id: 'TagPatch' })
export type TagPatch = z.infer<typeof tagPatch>

const params = z.object({ id: z.string().describe('Id of the tag.') })

export const listTags = operation({
  id: 'getTags',
  method: 'get',
  path: '/tags',
  summary: 'List tags',
  tag: 'Tags',
  scope: 'tags.read',
  query: z.object({
    search: z.string().max(190).optional(),
    ids: listParameter('Only the tags with these ids.').optional(),
    ...listing(100, ['name', 'createdAt'], 'asc'),
  }),
  response: z.array(tag),
})
export type TagsQuery = z.output<typeof listTags.query>

export const createTag = operation({
  id: 'createTag',
  method: 'post',
  path: '/tags',
  summary: 'Create a tag',
  tag: 'Tags',
  scope: 'tags.write',
  body: newTag,
  status: 201,
  response: tag,
})

export const updateTag = operation({
  id: 'updateTag',
  method: 'patch',
  path: '/tags/{id}',
  summary: 'Update a tag',
  tag: 'Tags',
  scope: 'tags.write',
  params,
  body: tagPatch,
  response: tag,
})

export const deleteTag = operation({
  id: 'deleteTag',
  method: 'delete',
  path: '/tags/{id}',
  summary: 'Delete a tag',
  description: 'Deletes the tag and removes it from its links.',
  tag: 'Tags',
  scope: 'tags.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
