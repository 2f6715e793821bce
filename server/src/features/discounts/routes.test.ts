import { createClient } from '@tributary/contract/client'
import {
  createDiscount,
  deleteDiscount,
  getDiscount,
  listDiscounts,
  type NewDiscount,
  updateDiscount,
} from '@tributary/contract/discounts'
import { createGroup, deleteGroup } from '@tributary/contract/groups'
import { expect, inject, it } from 'vitest'
import { buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const group = await call(createGroup, { body: { name: 'Gold', slug: 'gold' } })
  const create = (given: Partial<NewDiscount>) =>
    call(createDiscount, { body: { groupId: group.id, type: 'percentage', amount: 12.5, ...given } })
  return { call, create, group }
}

it('creates, reads, changes and deletes the discount of a group', async () => {
  const { call, create, group } = await open()
  const discount = await create({})
  expect(discount).toEqual({
    id: expect.stringMatching(/^disc_/),
    groupId: group.id,
    type: 'percentage',
    amount: 12.5,
    maxDuration: null,
    provider: 'custom',
    couponId: null,
    couponTestId: null,
    description: null,
    codeWins: false,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  const params = { id: discount.id }
  expect(await call(getDiscount, { params })).toEqual(discount)
  expect(await call(listDiscounts)).toEqual([discount])
  expect(await call(listDiscounts, { query: { groupId: group.id, page: 2 } })).toEqual([])
  expect(await call(updateDiscount, { params, body: { amount: 12.5 } })).toEqual(discount)
  const flat = { type: 'flat' as const, amount: 500, maxDuration: 3, couponId: 'c', codeWins: true }
  expect(await call(updateDiscount, { params, body: flat })).toMatchObject(flat)
  expect(await call(deleteDiscount, { params })).toEqual(params)
  await expect(call(getDiscount, { params })).rejects.toMatchObject({ status: 404 })
})

it('refuses a second discount of a group, unknown groups, and amounts that are not exact', async () => {
  const { call, create } = await open()
  const { id } = await create({})
  await expect(create({})).rejects.toMatchObject({ status: 409 })
  await expect(create({ groupId: 'grp_unknown' })).rejects.toMatchObject({ status: 404 })
  const patch = (body: object) => call(updateDiscount, { params: { id }, body })
  for (const body of [{ amount: 100.01 }, { amount: 1.005 }, { type: 'flat', amount: 0.5 }, { maxDuration: 601 }])
    await expect(patch(body)).rejects.toMatchObject({ status: 422 })
  await expect(patch({ type: 'flat' })).rejects.toMatchObject({ status: 422 })
})

it('the discount of a deleted group is deleted', async () => {
  const { call, create, group } = await open()
  await create({})
  await call(deleteGroup, { params: { id: group.id } })
  expect(await call(listDiscounts)).toEqual([])
})
