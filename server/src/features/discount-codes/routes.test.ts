import { createClient } from '@tributary/contract/client'
import { createDiscountCode, deleteDiscountCode, listDiscountCodes } from '@tributary/contract/discount-codes'
import { createDiscount, deleteDiscount } from '@tributary/contract/discounts'
import { addGroupPartners, createGroup, listGroups } from '@tributary/contract/groups'
import { createPartnerLink } from '@tributary/contract/partner-links'
import { banPartner, createPartner, mergePartners, unbanPartner } from '@tributary/contract/partners'
import { expect, inject, it } from 'vitest'
import { buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const [group] = await call(listGroups)
  const discount = await call(createDiscount, { body: { groupId: group?.id ?? '', type: 'percentage', amount: 10 } })
  const enrol = async (name: string) => {
    const partner = await call(createPartner, { body: { email: `${name.toLowerCase()}@example.com`, name } })
    const url = 'https://example.com/more'
    const link = await call(createPartnerLink, { body: { partnerId: partner.id, url } })
    return { partnerId: partner.id, linkId: link.id, firstLinkId: partner.links?.[0]?.id }
  }
  const create = (body: { partnerId: string; linkId: string; code?: string }) => call(createDiscountCode, { body })
  const list = (query: { partnerId?: string; discountId?: string } = {}) => call(listDiscountCodes, { query })
  return { call, discount, enrol, create, list }
}

it('a new partner has a code from its name, and further links may have one each', async () => {
  const { call, discount, enrol, create, list } = await open()
  const { partnerId, linkId, firstLinkId } = await enrol('Ann')
  const first = { id: expect.stringMatching(/^dcode_/), code: 'ANN', discountId: discount.id, partnerId }
  expect(await list()).toEqual([{ ...first, linkId: firstLinkId, disabledAt: null }])
  const second = await create({ partnerId, linkId, code: ' Ann-10 ' })
  expect(second).toMatchObject({ code: 'Ann-10', linkId, discountId: discount.id })
  await expect(create({ partnerId, linkId })).rejects.toMatchObject({ status: 400 })
  const other = await enrol('Bob')
  await expect(create({ ...other, code: 'ANN-10' })).rejects.toMatchObject({ status: 409 })
  expect((await create({ ...other, code: ' ' })).code).toMatch(/^BOB[A-Z0-9]{4}$/)
  expect(await list({ partnerId })).toHaveLength(2)
  expect(await list({ discountId: discount.id })).toHaveLength(4)
  expect(await call(deleteDiscountCode, { params: { idOrCode: 'aNN-10' } })).toEqual({ id: second.id })
  await expect(call(deleteDiscountCode, { params: { idOrCode: second.id } })).rejects.toMatchObject({ status: 404 })
})

it('refuses links of others, unknown partners and links, and groups without a discount', async () => {
  const { call, discount, enrol, create, list } = await open()
  const [ann, bob] = [await enrol('Ann'), await enrol('Bob')]
  await expect(create({ partnerId: ann.partnerId, linkId: bob.linkId })).rejects.toMatchObject({ status: 400 })
  await expect(create({ ...ann, partnerId: 'pn_unknown' })).rejects.toMatchObject({ status: 404 })
  await expect(create({ ...ann, linkId: 'link_unknown' })).rejects.toMatchObject({ status: 404 })
  await expect(create({ ...ann, code: 'a b' })).rejects.toMatchObject({ status: 422 })
  await expect(list({ discountId: 'disc_unknown' })).rejects.toMatchObject({ status: 404 })
  await call(deleteDiscount, { params: { id: discount.id } })
  await expect(create(ann)).rejects.toMatchObject({ status: 400 })
  expect(await list({ partnerId: ann.partnerId })).toMatchObject([{ discountId: null }])
})

it('codes follow a ban, a move to another group, and a merge', async () => {
  const { call, enrol, list } = await open()
  const [ann, bob] = [await enrol('Ann'), await enrol('Bob')]
  const { partnerId } = ann
  await call(banPartner, { body: { partnerId, reason: 'fraud' } })
  expect(await list({ partnerId })).toMatchObject([{ disabledAt: expect.any(String) }])
  await call(unbanPartner, { body: { partnerId } })
  expect(await list({ partnerId })).toMatchObject([{ disabledAt: null }])
  const group = await call(createGroup, { body: { name: 'g', slug: 'g' } })
  const discount = await call(createDiscount, { body: { groupId: group.id, type: 'flat', amount: 500 } })
  await call(addGroupPartners, { params: { id: group.id }, body: { partnerIds: [partnerId] } })
  expect(await list({ partnerId })).toMatchObject([{ discountId: discount.id }])
  await call(mergePartners, { body: { sourcePartnerId: bob.partnerId, targetPartnerId: partnerId } })
  const codes = await list({ partnerId })
  expect(codes.map((code) => [code.code, code.discountId]).sort()).toEqual([
    ['ANN', discount.id],
    ['BOB', discount.id],
  ])
})
