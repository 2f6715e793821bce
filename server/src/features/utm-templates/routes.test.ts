import { createClient } from '@tributary/contract/client'
import {
  createUtmTemplate,
  deleteUtmTemplate,
  listUtmTemplates,
  type NewUtmTemplate,
  updateUtmTemplate,
} from '@tributary/contract/utm-templates'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const create = (name: string, given: Partial<NewUtmTemplate> = {}) =>
    call(createUtmTemplate, { body: { name, ...given } })
  return { workspace, call, create }
}

it('creates, lists, searches, changes and deletes templates', async () => {
  const { call, create } = await open()
  const spring = await create(' Spring ', {
    utm_source: ' newsletter ',
    utm_medium: 'email',
    utm_term: '',
    ref: 'acme',
  })
  expect(spring).toEqual({
    ...{
      id: expect.stringMatching(/^utm_/),
      name: 'Spring',
      utm_source: 'newsletter',
      utm_medium: 'email',
      ref: 'acme',
    },
    ...{ utm_campaign: null, utm_term: null, utm_content: null },
    ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
  })
  const ads = await create('ads', { utm_medium: 'cpc' })
  expect(await call(listUtmTemplates)).toEqual([ads, spring])
  expect(await call(listUtmTemplates, { query: { sortBy: 'createdAt' } })).toEqual([spring, ads])
  expect(await call(listUtmTemplates, { query: { search: 'SPR' } })).toEqual([spring])
  expect(await call(listUtmTemplates, { query: { page: 2, pageSize: 1 } })).toEqual([spring])
  const changed = await call(updateUtmTemplate, {
    params: { id: spring.id },
    body: { name: 'Summer', utm_medium: null, utm_campaign: 'sun' },
  })
  expect(changed).toEqual({
    ...{ ...spring, name: 'Summer', utm_medium: null, utm_campaign: 'sun' },
    updatedAt: expect.any(String),
  })
  expect(await call(updateUtmTemplate, { params: { id: spring.id }, body: {} })).toEqual(changed)
  expect(await call(deleteUtmTemplate, { params: { id: spring.id } })).toEqual({ id: spring.id })
  expect(await call(listUtmTemplates)).toEqual([ads])
})

it('refuses a taken name with 409, an unknown template with 404, and blank or long values with 422', async () => {
  const { call, create } = await open()
  const [one, other] = [await create('one'), await create('other')]
  await expect(create('ONE')).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('Another UTM template already has the name ONE. Choose another name.'),
  })
  const rename = (id: string, name: string) => call(updateUtmTemplate, { params: { id }, body: { name } })
  await expect(rename(other.id, 'One')).rejects.toMatchObject({ status: 409 })
  const { create: createTheirs } = await open()
  await expect(rename((await createTheirs('theirs')).id, 'mine')).rejects.toMatchObject({ status: 404 })
  await expect(call(deleteUtmTemplate, { params: { id: 'utm_unknown' } })).rejects.toMatchObject({ status: 404 })
  await expect(create(' ')).rejects.toMatchObject({ status: 422 })
  await expect(create('long', { utm_source: 'x'.repeat(256) })).rejects.toMatchObject({ status: 422 })
  await expect(create('control', { ref: 'a\u0000b' })).rejects.toMatchObject({ status: 422 })
  expect(await call(listUtmTemplates)).toEqual([one, other])
})

it('the audit log has the changed values of a template', async () => {
  const { workspace, call, create } = await open()
  const { id } = await create('spring', { utm_source: 'letter' })
  await call(updateUtmTemplate, { params: { id }, body: { utm_source: 'print' } })
  const found = await sql<{ changes: object[] }>`SELECT changes FROM audit_entries
    WHERE workspace_id = ${workspace.id} AND operation = 'updateUtmTemplate'`.execute(platform.db)
  expect(found.rows[0]?.changes).toEqual([
    { id, kind: 'utm-templates', before: { utm_source: 'letter' }, after: { utm_source: 'print' } },
  ])
})
