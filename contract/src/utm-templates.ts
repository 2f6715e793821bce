import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { operation } from './operation.ts'
import { label } from './tags.ts'

const stored = z.string().nullable()

export const utmTemplate = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    utm_source: stored,
    utm_medium: stored,
    utm_campaign: stored,
    utm_term: stored,
    utm_content: stored,
    ref: stored,
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'UtmTemplate' })
export type UtmTemplate = z.infer<typeof utmTemplate>

const name = label(50).describe('Name of the template, unique in the workspace, ignoring case.')
const value = plainText(255)
  .transform((text) => text.trim() || null)
  .nullish()
  .describe('Value for the field of the same name of a link; null or an empty text for none.')
  .meta({ type: ['string', 'null'], maxLength: 255 })
const values = {
  utm_source: value,
  utm_medium: value,
  utm_campaign: value,
  utm_term: value,
  utm_content: value,
  ref: value,
}

export const newUtmTemplate = z.object({ name, ...values }).meta({ id: 'NewUtmTemplate' })
export type NewUtmTemplate = z.infer<typeof newUtmTemplate>

export const utmTemplatePatch = z.object({ name: name.optional(), ...values }).meta({ id: 'UtmTemplatePatch' })
export type UtmTemplatePatch = z.infer<typeof utmTemplatePatch>

const params = z.object({ id: z.string().describe('Id of the UTM template.') })

export const listUtmTemplates = operation({
  id: 'listUtmTemplates',
  method: 'get',
  path: '/utm-templates',
  summary: 'List UTM templates',
  tag: 'UTM templates',
  scope: 'links.read',
  query: z.object({ search: z.string().max(190).optional(), ...listing(100, ['name', 'createdAt'], 'asc') }),
  response: z.array(utmTemplate),
})
export type UtmTemplatesQuery = z.output<typeof listUtmTemplates.query>

export const createUtmTemplate = operation({
  id: 'createUtmTemplate',
  method: 'post',
  path: '/utm-templates',
  summary: 'Create a UTM template',
  description:
    'Stores UTM values under a name. Links take over values when they are saved: a later change of the template does not change them.',
  tag: 'UTM templates',
  scope: 'links.write',
  body: newUtmTemplate,
  status: 201,
  response: utmTemplate,
})

export const updateUtmTemplate = operation({
  id: 'updateUtmTemplate',
  method: 'patch',
  path: '/utm-templates/{id}',
  summary: 'Update a UTM template',
  tag: 'UTM templates',
  scope: 'links.write',
  params,
  body: utmTemplatePatch,
  response: utmTemplate,
})

export const deleteUtmTemplate = operation({
  id: 'deleteUtmTemplate',
  method: 'delete',
  path: '/utm-templates/{id}',
  summary: 'Delete a UTM template',
  tag: 'UTM templates',
  scope: 'links.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
