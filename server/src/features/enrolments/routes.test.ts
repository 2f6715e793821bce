import { createClient } from '@tributary/contract/client'
import { createGroup } from '@tributary/contract/groups'
import { createLink, updateLink } from '@tributary/contract/links'
import { createPartnerLink, retrievePartnerLinks, upsertPartnerLink } from '@tributary/contract/partner-links'
import { createPartnerTag } from '@tributary/contract/partner-tags'
import { createPartner, getPartner, listPartners, type NewPartner, updatePartner } from '@tributary/contract/partners'
import { updateProgram } from '@tributary/contract/programs'
import { createReward } from '@tributary/contract/rewards'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { addPartnerTotals } from '../partners/service.ts'
import { createPartnerLink as createOwnLink } from './links.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })

async function open() {
  const workspace = await buildWorkspace(platform)
  const program = await buildProgram(platform, workspace)
  const call = as(workspace)
  const create = (email: string, given: Partial<NewPartner> = {}) => call(createPartner, { body: { email, ...given } })
  return { workspace, program, call, create }
}

describe('createPartner', () => {
  it('201: an approved partner of the default group with one link', async () => {
    const { workspace, program, create, call } = await open()
    const partner = await create(' Ann@Example.com ', { name: 'Ann Lee', tenantId: 't1', country: 'de' })
    expect(partner).toMatchObject({
      id: expect.stringMatching(/^pn_/),
      partnerId: partner.id,
      name: 'Ann Lee',
      email: 'ann@example.com',
      tenantId: 't1',
      country: 'DE',
      status: 'approved',
      programId: program.id,
      groupId: expect.stringMatching(/^grp_/),
      totalClicks: 0,
      netRevenue: 0,
      earningsPerClick: null,
      tags: [],
      links: [{ domain: workspace.domain, key: 'ann-lee', url: 'https://example.com/', clicks: 0 }],
    })
    expect(await call(getPartner, { params: { id: partner.id } })).toEqual(partner)
    const [link] = await call(retrievePartnerLinks, { query: { tenantId: 't1' } })
    expect([link]).toEqual(partner.links)
  })

  it('201: of a known address, only the tenantId changes, and no link is added', async () => {
    const { create } = await open()
    const partner = await create('ann@example.com', { name: 'Ann' })
    expect(await create('ANN@example.com', { name: 'Other', groupId: undefined })).toEqual(partner)
    expect(await create('ann@example.com', { tenantId: 't1' })).toEqual({ ...partner, tenantId: 't1' })
    await create('bob@example.com', { tenantId: 't2' })
    await expect(create('ann@example.com', { tenantId: 't2' })).rejects.toMatchObject({ status: 409 })
    await expect(create('cy@example.com', { tenantId: 't2' })).rejects.toMatchObject({ status: 409 })
  })

  it('201: of concurrent requests for one address, one partner with its links is created', async () => {
    const { create, call } = await open()
    const made = await Promise.all(Array.from({ length: 8 }, () => create('ann@example.com')))
    expect(new Set(made.map((partner) => partner.id)).size).toBe(1)
    expect((await call(listPartners))[0]?.links).toHaveLength(1)
  })

  it('201: default links of the group with derived keys, and a suffix where a key is taken', async () => {
    const { workspace, call, create } = await open()
    const defaultLinks = [{ url: 'https://example.com/a' }, { url: 'https://example.com/b' }]
    const { id: groupId } = await call(createGroup, { body: { name: 'g', slug: 'g', defaultLinks } })
    const first = await create('a@example.com', { groupId, username: 'Zoë!', linkProps: { externalId: 'e1' } })
    expect(first.links?.map((link) => link.key)).toEqual([expect.stringMatching(/^zoe-[a-z0-9]{4}$/), 'zoe'])
    const second = await create('zoe@example.com', { groupId })
    expect(second.links?.map((link) => link.key)).toEqual([
      expect.stringMatching(/^zoe-[a-z0-9]{4}$/),
      expect.stringMatching(/^zoe-[a-z0-9]{4}$/),
    ])
    const third = await create('___@example.com', { linkProps: { prefix: '/c/' } })
    expect(third.links?.map((link) => link.key)).toEqual([expect.stringMatching(/^c\/[A-Za-z0-9]{7}$/)])
    const stored = await sql<{ external_id: string | null; track_conversion: boolean; program_id: string }>`
      SELECT external_id, track_conversion, program_id FROM links
      WHERE workspace_id = ${workspace.id} AND partner_id = ${first.id} ORDER BY number`.execute(platform.db)
    const shared = { track_conversion: true, program_id: first.programId }
    expect(stored.rows).toEqual([
      { external_id: 'e1', ...shared },
      { external_id: null, ...shared },
    ])
  })

  it('400, 404, 422: without a URL of the program, a known group, or an address', async () => {
    const { program, call, create } = await open()
    await expect(create('a@example.com', { groupId: 'grp_unknown' })).rejects.toMatchObject({ status: 404 })
    await expect(create('nobody')).rejects.toMatchObject({ status: 422 })
    await call(updateProgram, { params: { id: program.id }, body: { url: null } })
    await expect(create('a@example.com')).rejects.toMatchObject({ status: 400 })
    const workspace = await buildWorkspace(platform)
    const without = as(workspace)(createPartner, { body: { email: 'a@example.com' } })
    await expect(without).rejects.toMatchObject({ status: 404, message: expect.stringContaining('POST /programs') })
    expect(await call(listPartners)).toEqual([])
  })
})

describe('listPartners', () => {
  it('200: filters; tenantId wins over email, and email over search', async () => {
    const { workspace, call } = await open()
    const { id: groupId } = await call(createGroup, { body: { name: 'g', slug: 'g' } })
    await buildPartner(platform, workspace, { name: 'Ann 100%', email: 'ann@x.com', tenant_id: 't1', country: 'DE' })
    await buildPartner(platform, workspace, { name: 'Bob', email: 'bob@y.com', groupId, status: 'archived' })
    const names = async (query: object) => (await call(listPartners, { query })).map((partner) => partner.name)
    expect(await names({ sortBy: 'createdAt' })).toEqual(['Bob', 'Ann 100%'])
    expect(await names({ groupId })).toEqual(['Bob'])
    expect(await names({ status: 'archived' })).toEqual(['Bob'])
    expect(await names({ country: 'de' })).toEqual(['Ann 100%'])
    expect(await names({ search: 'X.COM' })).toEqual(['Ann 100%'])
    expect(await names({ search: '%' })).toEqual(['Ann 100%'])
    expect(await names({ email: 'BOB@y.com', search: 'ann' })).toEqual(['Bob'])
    expect(await names({ tenantId: 't1', email: 'bob@y.com' })).toEqual(['Ann 100%'])
    expect(await names({ pageSize: 1, page: 2, sortBy: 'createdAt' })).toEqual(['Ann 100%'])
  })

  it('200: sorts by every total and ratio, and partners without a ratio come last', async () => {
    const { workspace, call } = await open()
    const [a, b, none] = [
      await buildPartner(platform, workspace, { name: 'a' }),
      await buildPartner(platform, workspace, { name: 'b' }),
      await buildPartner(platform, workspace, { name: 'none' }),
    ]
    expect(none.status).toBe('approved')
    await addPartnerTotals(platform.db, [
      {
        partnerNumber: a.number,
        clicks: 10n,
        leads: 5n,
        conversions: 4n,
        sales: 4n,
        sale_amount: 400n,
        commissions: 100n,
      },
      {
        partnerNumber: b.number,
        clicks: 20n,
        leads: 6n,
        conversions: 5n,
        sales: 9n,
        sale_amount: 900n,
        commissions: 90n,
      },
    ])
    const names = async (sortBy: never, sortOrder: 'asc' | 'desc') =>
      (await call(listPartners, { query: { sortBy, sortOrder } })).map((partner) => partner.name).join()
    const totals = ['totalSaleAmount', 'totalClicks', 'totalLeads', 'totalConversions', 'netRevenue']
    for (const name of totals) expect([name, await names(name as never, 'desc')]).toEqual([name, 'b,a,none'])
    expect(await names('totalCommissions' as never, 'desc')).toBe('a,b,none')
    expect(await names('totalCommissions' as never, 'asc')).toBe('none,b,a')
    const better = { earningsPerClick: 'b', averageLifetimeValue: 'b', returnOnAdSpend: 'b', clickToLeadRate: 'a' }
    for (const [name, first] of Object.entries(better)) {
      const second = first === 'a' ? 'b' : 'a'
      expect([name, await names(name as never, 'desc')]).toEqual([name, `${first},${second},none`])
      expect([name, await names(name as never, 'asc')]).toEqual([name, `${second},${first},none`])
    }
    const [first] = await call(listPartners, { query: { search: b.id } })
    expect(first).toMatchObject({ totalSales: 9, netRevenue: 810, earningsPerClick: 45, leadToConversionRate: 5 / 6 })
  })
})

it('a partner shows its own reward before the reward of its group', async () => {
  const { call, create } = await open()
  const partner = await create('ann@example.com')
  expect(partner).toMatchObject({ clickRewardId: null, leadRewardId: null, saleRewardId: null })
  const terms = { event: 'sale' as const, type: 'percentage' as const, amountInPercentage: 20 }
  const shared = await call(createReward, { body: { groupId: partner.groupId ?? '', ...terms } })
  const show = () => call(getPartner, { params: { id: partner.id } })
  expect(await show()).toEqual({ ...partner, saleRewardId: shared.id })
  const own = await call(createReward, { body: { partnerId: partner.id, ...terms } })
  expect(await show()).toEqual({ ...partner, saleRewardId: own.id })
})

describe('updatePartner', () => {
  it('200: changes the profile, the group and the tags', async () => {
    const { call, create } = await open()
    const partner = await create('ann@example.com')
    const { id: groupId } = await call(createGroup, { body: { name: 'g', slug: 'g' } })
    const tag = await call(createPartnerTag, { body: { name: 'vip' } })
    const patch = (body: object) => call(updatePartner, { params: { id: partner.id }, body })
    expect(await patch({})).toEqual(partner)
    const fields = { name: 'Ann', email: 'ann@other.com', tenantId: 't', website: 'https://ann.example', groupId }
    const changed = { ...partner, ...fields, tags: [{ id: tag.id, name: 'vip' }] }
    expect(await patch({ ...fields, tagIds: [tag.id, tag.id] })).toEqual(changed)
    expect(await patch({ tagIds: [], tenantId: null })).toMatchObject({ tags: [], tenantId: null })
  })

  it('404, 409, 422: for an unknown partner, a taken address, and unknown tags', async () => {
    const { call, create } = await open()
    await create('bob@example.com')
    const { id } = await create('ann@example.com')
    const patch = (id: string, body: object) => call(updatePartner, { params: { id }, body })
    await expect(patch('pn_unknown', {})).rejects.toMatchObject({ status: 404 })
    await expect(patch(id, { email: 'bob@example.com' })).rejects.toMatchObject({ status: 409 })
    await expect(patch(id, { tagIds: ['ptag_unknown'] })).rejects.toMatchObject({ status: 422 })
    await expect(patch(id, { groupId: 'grp_unknown' })).rejects.toMatchObject({ status: 404 })
  })
})

describe('partner links', () => {
  it('201 and 200: create and upsert links of one partner only', async () => {
    const { workspace, call, create } = await open()
    const [ann, bob] = [await create('ann@example.com', { tenantId: 't1' }), await create('bob@example.com')]
    const body = { tenantId: 't1', url: 'https://example.com/page', key: 'mine' }
    const link = await call(createPartnerLink, { body })
    expect(link).toMatchObject({ key: 'mine', domain: workspace.domain, partnerId: ann.id, tenantId: 't1' })
    expect(link).toMatchObject({ programId: ann.programId, trackConversion: true })
    await expect(call(createPartnerLink, { body })).rejects.toMatchObject({ status: 409 })
    const plain = await call(createPartnerLink, { body: { partnerId: ann.id } })
    expect(plain).toMatchObject({ url: 'https://example.com/', key: expect.stringMatching(/^\w{7}$/) })
    const put = (partnerId: string) =>
      call(upsertPartnerLink, { body: { partnerId, url: body.url, comments: 'c', linkProps: { archived: true } } })
    expect(await put(ann.id)).toMatchObject({ id: link.id, comments: 'c', archived: true })
    const other = await put(bob.id)
    expect(other).toMatchObject({ partnerId: bob.id })
    expect(other.id).not.toBe(link.id)
    expect(await call(retrievePartnerLinks, { query: { partnerId: bob.id } })).toHaveLength(2)
    await expect(call(retrievePartnerLinks, { query: {} })).rejects.toMatchObject({ status: 400 })
    await expect(call(retrievePartnerLinks, { query: { tenantId: 'x' } })).rejects.toMatchObject({ status: 404 })
  })

  it('400: for a page that the group does not allow, and above the limit of the partner itself', async () => {
    const { workspace, call, create } = await open()
    const additionalLinks = [
      { domain: 'shop.example.com', validationMode: 'domain' as const },
      { domain: 'blog.example.com', validationMode: 'exact' as const, path: 'post?id=1' },
    ]
    const settings = { name: 'g', slug: 'g', additionalLinks, maxPartnerLinks: 3 }
    const { id: groupId } = await call(createGroup, { body: settings })
    const { id: partnerId } = await create('ann@example.com', { groupId })
    const add = (url: string) => call(createPartnerLink, { body: { partnerId, url } })
    await expect(add('https://evil.example.com/')).rejects.toMatchObject({ status: 400, code: 'bad_request' })
    await expect(add('https://blog.example.com/post?id=2')).rejects.toMatchObject({ status: 400 })
    await add('https://blog.example.com/post?id=1')
    await add('https://shop.example.com/any')
    const ctx = { ...contextIn(platform, workspace.id), actor: { kind: 'partner' as const, id: partnerId, scopes: [] } }
    await expect(createOwnLink(ctx, { partnerId })).rejects.toMatchObject({ status: 400 })
    await expect(add('https://example.com/fourth')).resolves.toMatchObject({ partnerId })
  })
})

it('a partner shows fewer of its links when their URLs are long', async () => {
  const { call, create } = await open()
  const { id } = await create('ann@example.com')
  const add = (number: number) =>
    call(createPartnerLink, { body: { partnerId: id, url: `https://example.com/${number}${'x'.repeat(30_000)}` } })
  for (const number of [1, 2, 3, 4]) await add(number)
  const [partner] = await call(listPartners)
  expect(partner?.links?.map(({ url }) => url.slice(0, 21))).toEqual(['https://example.com/4', 'https://example.com/3'])
  expect(await call(getPartner, { params: { id } })).toEqual(partner)
  expect(await call(retrievePartnerLinks, { query: { partnerId: id } })).toHaveLength(5)
})

describe('links with a partner', () => {
  it('accept a known partner, and refuse an unknown one, another program, and a change after a click', async () => {
    const { program, call, create } = await open()
    const [ann, bob] = [await create('ann@example.com'), await create('bob@example.com')]
    const add = (body: object) => call(createLink, { body: { url: 'https://example.com', ...body } })
    const link = await add({ partnerId: ann.id })
    expect(link).toMatchObject({ partnerId: ann.id, programId: program.id })
    for (const body of [{ partnerId: 'pn_unknown' }, { programId: 'prog_unknown' }])
      await expect(add(body)).rejects.toMatchObject({ status: 422 })
    const foreign = await (await open()).create('ann@example.com')
    await expect(add({ partnerId: foreign.id })).rejects.toMatchObject({ status: 422 })
    const patch = (body: object) => call(updateLink, { params: { linkId: link.id }, body })
    expect(await patch({ partnerId: bob.id })).toMatchObject({ partnerId: bob.id })
    await sql`UPDATE link_counters SET clicks = 1
      WHERE link_number = (SELECT number FROM links WHERE id = ${link.id})`.execute(platform.db)
    for (const partnerId of [ann.id, null]) await expect(patch({ partnerId })).rejects.toMatchObject({ status: 422 })
    expect(await patch({ partnerId: bob.id, title: 't' })).toMatchObject({ partnerId: bob.id, title: 't' })
  })

  it('keep a partner id that was stored before programs existed', async () => {
    const { workspace, call } = await open()
    const link = await call(createLink, { body: { url: 'https://example.com', key: 'old' } })
    await sql`UPDATE links SET partner_id = 'old partner', program_id = 'old program'
      WHERE workspace_id = ${workspace.id} AND id = ${link.id}`.execute(platform.db)
    const body = { title: 't', partnerId: 'old partner', programId: 'old program' }
    const patched = await call(updateLink, { params: { linkId: link.id }, body })
    expect(patched).toMatchObject({ partnerId: 'old partner', programId: 'old program', title: 't' })
  })
})
