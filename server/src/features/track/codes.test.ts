import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { explainEvent } from '@tributary/contract/commissions'
import { getCustomer } from '@tributary/contract/customers'
import { trackLead, trackRefund, trackSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import {
  type BuiltProgram,
  buildPartner,
  buildProgram,
  buildReward,
  decideAll,
  readCommissions,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createDiscountCode, deleteDiscountCode, disablePartnerCodes } from '../discount-codes/service.ts'
import { createDiscount } from '../discounts/service.ts'
import { linksByNumber } from '../links/service.ts'
import { readCode } from './codes.ts'

const platform = await openTestPlatform()
const { db } = platform
const { api } = inject('server')

async function buildWorld({ codeWins = false } = {}) {
  const { workspace, click, link } = await buildConversionLink(platform)
  const program: BuiltProgram = await buildProgram(platform, {}, workspace)
  await buildReward(program)
  const partner = await buildPartner(platform, program)
  await createDiscount(program.ctx, { groupId: program.group.id, type: 'percentage', amount: 10, codeWins })
  const linkId = (await linksByNumber(program.ctx, [partner.link.number])).get(partner.link.number)?.id ?? ''
  const { code } = await createDiscountCode(program.ctx, { partnerId: partner.id, linkId, code: 'Ada-10' })
  const call = createClient({ url: api, token: workspace.key })
  const metadata = { discountCode: code.toLowerCase() }
  const sell = (customerExternalId: string, given: object = {}) => {
    const invoiceId = randomUUID()
    return call(trackSale, { body: { customerExternalId, amount: 1_000, invoiceId, metadata, ...given } as never })
  }
  return { program, partner, linkId, click, clickedLink: link, call, metadata, sell }
}

type World = Awaited<ReturnType<typeof buildWorld>>

async function read({ program: { ctx } }: World) {
  const result = await sql<{
    kind: string
    attribution: string
    link_number: bigint | null
    partner_id: string | null
    click_id: string | null
  }>`SELECT kind, attribution, link_number, partner_id, click_id FROM conversions
    WHERE workspace_id = ${ctx.workspaceId} ORDER BY number`.execute(db)
  return result.rows
}

test.each([
  ['Ada-10', 'Ada-10'],
  ['  x ', 'x'],
  ['', null],
  ['a b', null],
  ['x'.repeat(101), null],
  [10, null],
  [undefined, null],
])('the code in the metadata %j is %j', (discountCode, code) => {
  expect(readCode({ discountCode })).toBe(code)
})

test('a sale of a new customer with a code belongs to its link and partner, and later sales follow', async () => {
  const world = await buildWorld()
  const { program, partner, linkId, call, sell } = world
  const first = await sell('ann')
  expect(first.sale?.amount).toBe(1_000)
  await sell('ann', { metadata: null })
  const mine = { link_number: partner.link.number, partner_id: partner.id, click_id: null }
  expect(await read(world)).toMatchObject([
    { kind: 'lead', attribution: 'discount_code', ...mine },
    { kind: 'sale', attribution: 'discount_code', ...mine },
    { kind: 'sale', attribution: 'lead', ...mine },
  ])
  const customer = await call(getCustomer, {
    params: { id: first.customer?.id ?? '' },
    query: { includeExpandedFields: 'true' },
  })
  expect(customer).toMatchObject({ link: { id: linkId } })
  await decideAll(platform, program)
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([100n, 100n])
  const explained = await call(explainEvent, { query: { invoiceId: first.sale?.invoiceId ?? '' } })
  expect(explained).toMatchObject({ attribution: 'discount_code', clickId: null, linkId })
  expect(explained.text).toContain('The sale belongs to the partner by the discount code ada-10.')
})

test('a refund of a sale with a code takes the commission back', async () => {
  const { program, call, sell } = await buildWorld()
  const { sale } = await sell('ann')
  await decideAll(platform, program)
  await call(trackRefund, { body: { invoiceId: sale?.invoiceId ?? '' } })
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'refunded' }])
})

test('a lead with a code belongs to its link; its sales follow without the code', async () => {
  const world = await buildWorld()
  const { partner, linkId, call, metadata, sell } = world
  const lead = { eventName: 'Sign up', customerExternalId: 'ann', metadata }
  const recorded = await call(trackLead, { body: lead as never })
  expect(recorded).toMatchObject({ click: { id: '' }, link: { id: linkId, partnerId: partner.id } })
  expect(await call(trackLead, { body: lead as never })).toEqual(recorded)
  await sell('ann', { metadata: null })
  expect(await read(world)).toMatchObject([
    { kind: 'lead', attribution: 'discount_code', partner_id: partner.id },
    { kind: 'sale', attribution: 'lead', partner_id: partner.id },
  ])
})

test('a click comes before the code, unless the code wins', async () => {
  for (const codeWins of [false, true]) {
    const world = await buildWorld({ codeWins })
    const { partner, call, click, metadata, sell } = world
    const lead = { eventName: 'Sign up', customerExternalId: 'ann', clickId: click().id }
    await call(trackLead, { body: lead as never })
    await sell('ann')
    await sell('ann', { metadata: null })
    await sell('bob', { clickId: click().id })
    await call(trackLead, { body: { ...lead, customerExternalId: 'eve', metadata } as never })
    const rows = await read(world)
    const owner = codeWins ? partner.id : null
    expect(rows.map(({ kind, partner_id }) => [kind, partner_id])).toEqual([
      ['lead', null],
      ['sale', owner],
      ['sale', null],
      ['lead', owner],
      ['sale', owner],
      ['lead', owner],
    ])
    const attributions = codeWins
      ? ['last_click', 'discount_code', 'lead', 'discount_code', 'discount_code', 'discount_code']
      : ['last_click', 'lead', 'lead', 'last_click', 'last_click', 'last_click']
    expect(rows.map(({ attribution }) => attribution)).toEqual(attributions)
    expect(rows[1]?.click_id).toBe(codeWins ? null : lead.clickId)
  }
})

test('a click that is too old gives way to the code', async () => {
  const world = await buildWorld()
  const { partner, call, click, sell } = world
  const { id: clickId } = click({ at: Date.now() - 91 * 86_400_000 })
  await call(trackLead, { body: { eventName: 'Sign up', customerExternalId: 'ann', clickId } as never })
  await sell('ann')
  await sell('ann', { metadata: null })
  expect(await read(world)).toMatchObject([
    { kind: 'lead', attribution: 'outside_window', partner_id: null },
    { kind: 'lead', attribution: 'discount_code', partner_id: partner.id },
    { kind: 'sale', attribution: 'discount_code', partner_id: partner.id },
    { kind: 'sale', attribution: 'lead', partner_id: partner.id },
  ])
})

test('unknown, disabled and deleted codes, and codes of another workspace are ignored', async () => {
  const world = await buildWorld()
  const { program, partner, call, click, metadata, sell } = world
  const other = await buildWorld()
  await other.call(trackLead, {
    body: { eventName: 'Sign up', customerExternalId: 'ann', clickId: other.click().id } as never,
  })
  await deleteDiscountCode(other.program.ctx, metadata.discountCode)
  expect((await other.sell('ann')).sale?.amount).toBe(1_000)
  expect((await other.sell('bob')).sale).toBeNull()
  await call(trackLead, { body: { eventName: 'Sign up', customerExternalId: 'ann', clickId: click().id } as never })
  for (const discountCode of ['SUMMER', '', 5, { a: 1 }, "'; --"])
    expect((await sell('ann', { metadata: { discountCode } })).sale?.amount).toBe(1_000)
  await disablePartnerCodes(program.ctx, partner.number, new Date())
  expect((await sell('ann')).sale?.amount).toBe(1_000)
  expect((await sell('bob')).sale).toBeNull()
  for (const one of [world, other]) expect((await read(one)).every(({ partner_id }) => partner_id === null)).toBe(true)
  const body = { eventName: 'Sign up', customerExternalId: 'bob', metadata } as never
  await expect(call(trackLead, { body })).rejects.toMatchObject({ status: 400 })
})

test('the code of a deferred lead attributes the later lead or sale that comes without it', async () => {
  const world = await buildWorld()
  const { partner, linkId, call, click, metadata, sell } = world
  const lead = (customerExternalId: string, given: object = {}) =>
    call(trackLead, { body: { eventName: 'Sign up', customerExternalId, clickId: '', ...given } as never })
  const deferred = { mode: 'deferred', metadata }
  await lead('ann', deferred)
  await lead('ann', { mode: 'deferred', metadata: { discountCode: 'unknown' } })
  expect(await lead('ann')).toMatchObject({ link: { id: linkId } })
  await lead('bob', deferred)
  expect((await sell('bob', { metadata: null })).sale?.amount).toBe(1_000)
  const mine = {
    attribution: 'discount_code',
    link_number: partner.link.number,
    partner_id: partner.id,
    click_id: null,
  }
  expect(await read(world)).toMatchObject([
    { kind: 'lead', ...mine },
    { kind: 'lead', ...mine },
    { kind: 'sale', ...mine },
  ])
  // A click comes before a code, also one that was deferred.
  await lead('cleo', deferred)
  await lead('cleo', { clickId: click().id })
  expect((await read(world)).at(-1)).toMatchObject({ kind: 'lead', attribution: 'last_click', partner_id: null })
})

test('the code of a deferred lead that comes before a click also does so later, until a lead is recorded', async () => {
  const world = await buildWorld({ codeWins: true })
  const { partner, call, click, metadata } = world
  const lead = (given: object = {}) =>
    call(trackLead, {
      body: { eventName: 'Sign up', customerExternalId: 'ann', clickId: click().id, ...given } as never,
    })
  await lead({ mode: 'deferred', metadata })
  await lead()
  await lead({ eventName: 'Trial' })
  expect(await read(world)).toMatchObject([
    { attribution: 'discount_code', partner_id: partner.id },
    { attribution: 'last_click', partner_id: null },
  ])
})

test('a code that is deleted beside sales fails none of them', async () => {
  const world = await buildWorld({ codeWins: true })
  const { program, partner, call, click, metadata, sell } = world
  for (let index = 0; index < 10; index++) {
    const lead = { eventName: 'Sign up', customerExternalId: `known-${index}`, clickId: click().id }
    await call(trackLead, { body: lead as never })
  }
  const customers = Array.from({ length: 20 }, (_, index) => (index < 10 ? `known-${index}` : `new-${index}`))
  const [, ...sold] = await Promise.all([
    deleteDiscountCode(program.ctx, metadata.discountCode),
    ...customers.map((customer) => sell(customer)),
  ])
  for (const { sale } of sold.slice(0, 10)) expect(sale?.amount).toBe(1_000)
  for (const { kind, attribution, partner_id } of await read(world))
    if (kind === 'sale') expect(partner_id).toBe(attribution === 'discount_code' ? partner.id : null)
  await decideAll(platform, program)
})
