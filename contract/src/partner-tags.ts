import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'
import { label } from './tags.ts'

export const partnerTag = z
  .strictObject({ id: z.string(), name: z.string(), createdAt: instant })
  .meta({ id: 'PartnerTag' })
export type PartnerTag = z.infer<typeof partnerTag>

const name = label(50).describe('Tag name, unique in the workspace, ignoring case.')
const params = z.object({ id: z.string().describe('Id of the partner tag.') })

export const listPartnerTags = operation({
  id: 'listPartnerTags',
  method: 'get',
  path: '/partner-tags',
  summary: 'List partner tags',
  description: 'Lists the labels that you can give to partners, to filter partners and commissions.',
  tag: 'Partner tags',
  scope: 'partners.read',
  query: z.object({ search: z.string().max(190).optional(), ...listing(100, ['name', 'createdAt'], 'asc') }),
  response: z.array(partnerTag),
})
export type PartnerTagsQuery = z.output<typeof listPartnerTags.query>

export const createPartnerTag = operation({
  id: 'createPartnerTag',
  method: 'post',
  path: '/partner-tags',
  summary: 'Create a partner tag',
  description: 'Creates a label. `PATCH /partners/{id}` with `tagIds` gives it to a partner.',
  tag: 'Partner tags',
  scope: 'partners.write',
  body: z.object({ name }).meta({ id: 'NewPartnerTag' }),
  status: 201,
  response: partnerTag,
})

export const updatePartnerTag = operation({
  id: 'updatePartnerTag',
  method: 'patch',
  path: '/partner-tags/{id}',
  summary: 'Rename a partner tag',
  description: 'Changes the name of the tag. Its partners keep it.',
  tag: 'Partner tags',
  scope: 'partners.write',
  params,
  body: z.object({ name: name.optional() }).meta({ id: 'PartnerTagPatch' }),
  response: partnerTag,
})

export const deletePartnerTag = operation({
  id: 'deletePartnerTag',
  method: 'delete',
  path: '/partner-tags/{id}',
  summary: 'Delete a partner tag',
  description: 'Deletes the tag and removes it from its partners.',
  tag: 'Partner tags',
  scope: 'partners.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
