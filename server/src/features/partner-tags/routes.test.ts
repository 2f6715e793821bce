import { createClient } from '@tributary/contract/client'
import { createPartnerTag, deletePartnerTag, listPartnerTags, updatePartnerTag } from '@tributary/contract/partner-tags'
import { expect, inject, it } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const create = (name: string) => call(createPartnerTag, { body: { name } })
  return { call, create }
}

it('creates, lists, renames and deletes tags', async () => {
  const { call, create } = await open()
  const tag = await create(' Café ')
  expect(tag).toEqual({ id: expect.stringMatching(/^ptag_/), name: 'Café', createdAt: expect.any(String) })
  const other = await create('agency')
  expect(await call(listPartnerTags)).toEqual([other, tag])
  expect(await call(listPartnerTags, { query: { sortBy: 'createdAt' } })).toEqual([tag, other])
  expect(await call(listPartnerTags, { query: { search: 'AGE' } })).toEqual([other])
  expect(await call(listPartnerTags, { query: { page: 2, pageSize: 1 } })).toEqual([tag])
  const renamed = await call(updatePartnerTag, { params: { id: tag.id }, body: { name: 'bar' } })
  expect(renamed).toEqual({ ...tag, name: 'bar' })
  expect(await call(deletePartnerTag, { params: { id: tag.id } })).toEqual({ id: tag.id })
  expect(await call(listPartnerTags)).toEqual([other])
})

it('refuses a taken name with 409, an unknown tag with 404 and a blank name with 422', async () => {
  const { call, create } = await open()
  const [one, other] = [await create('one'), await create('other')]
  await expect(create('ONE')).rejects.toMatchObject({ status: 409 })
  const rename = (id: string, name: string) => call(updatePartnerTag, { params: { id }, body: { name } })
  await expect(rename(other.id, 'One')).rejects.toMatchObject({ status: 409 })
  await expect(rename((await open().then(({ create }) => create('theirs'))).id, 'mine')).rejects.toMatchObject({
    status: 404,
  })
  await expect(call(deletePartnerTag, { params: { id: 'ptag_unknown' } })).rejects.toMatchObject({ status: 404 })
  await expect(create(' ')).rejects.toMatchObject({ status: 422 })
  expect(await call(listPartnerTags)).toEqual([one, other])
})
