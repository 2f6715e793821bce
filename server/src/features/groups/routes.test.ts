import { createClient } from '@tributary/contract/client'
import {
  addGroupPartners,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  type NewGroup,
  updateGroup,
} from '@tributary/contract/groups'
import { createReward, listRewards } from '@tributary/contract/rewards'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { summarizePartners } from '../partners/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function withProgram() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const create = (slug: string, given: Partial<NewGroup> = {}) =>
    as(workspace)(createGroup, { body: { name: slug, slug, ...given } })
  return { workspace, create }
}

/** Returns the group ids of partners, and the kinds of their activities. */
async function partnerGroups(workspaceId: string, numbers: bigint[]) {
  const summaries = await summarizePartners(contextIn(platform, workspaceId), numbers)
  const result = await sql<{ kind: string; detail: object }>`SELECT kind, detail FROM partner_activities
    WHERE partner_number = ANY(${numbers}::bigint[]) AND kind = 'group' ORDER BY number`.execute(platform.db)
  return { groupIds: numbers.map((number) => summaries.get(number)?.groupId), moves: result.rows }
}

describe('createGroup', () => {
  it('409: a program that has had 10,000 groups, including deleted ones', async () => {
    const { workspace, create } = await withProgram()
    await sql`INSERT INTO partner_groups (id, workspace_id, name, slug, deleted_at)
      SELECT ${workspace.id} || number, ${workspace.id}, 'old', 'old-' || number, now()
      FROM generate_series(1, 9999) AS number`.execute(platform.db)
    await expect(create('new')).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('has had 10000 groups'),
    })
  })

  it('201: with defaults, and with every setting', async () => {
    const { workspace, create } = await withProgram()
    const plain = await create('plain')
    expect(plain).toEqual({
      id: expect.stringMatching(/^grp_/),
      name: 'plain',
      slug: 'plain',
      color: null,
      isDefault: false,
      defaultLinks: [],
      additionalLinks: [],
      maxPartnerLinks: 10,
      holdingPeriodDays: 0,
      autoApprove: false,
      moveRules: [],
      createdAt: instant,
      updatedAt: instant,
    })
    const settings: Partial<NewGroup> = {
      color: 'blue',
      defaultLinks: [{ url: 'https://example.com/a', domain: workspace.domain }],
      additionalLinks: [{ domain: 'shop.example.com', validationMode: 'exact', path: '/a?b=c' }],
      maxPartnerLinks: 3,
      holdingPeriodDays: 30,
      autoApprove: true,
      moveRules: [
        { attribute: 'totalSaleAmount', operator: 'gte', value: 100_000 },
        { attribute: 'groupId', operator: 'in', value: [plain.id] },
      ],
    }
    const group = await create('gold', settings)
    expect(group).toMatchObject(settings)
    expect(await as(workspace)(getGroup, { params: { id: group.id } })).toEqual(group)
    expect(await as(workspace)(listGroups, { query: { sortBy: 'name' } })).toMatchObject([
      { slug: 'default' },
      { slug: 'gold' },
      { slug: 'plain' },
    ])
    expect(await as(workspace)(listGroups, { query: { search: 'GOL' } })).toEqual([group])
    expect(await as(workspace)(listGroups, { query: { page: 2, pageSize: 2 } })).toMatchObject([{ slug: 'gold' }])
  })

  it('404: without a program, and for a default link on an unknown domain', async () => {
    const workspace = await buildWorkspace(platform)
    const missing = 'This workspace has no partner program. Create one with POST /programs.'
    const body = { name: 'a', slug: 'a' }
    await expect(as(workspace)(createGroup, { body })).rejects.toMatchObject({ status: 404, message: missing })
    await expect(as(workspace)(listGroups)).rejects.toMatchObject({ status: 404, message: missing })
    const { create } = await withProgram()
    const defaultLinks = [{ url: 'https://example.com', domain: 'unknown.example.com' }]
    await expect(create('a', { defaultLinks })).rejects.toMatchObject({ status: 404 })
  })

  it('409: when another group has the slug', async () => {
    const { create } = await withProgram()
    await create('gold')
    await expect(create('Gold')).rejects.toMatchObject({ status: 409, code: 'conflict' })
  })

  it('422: for values that are not allowed', async () => {
    const { create } = await withProgram()
    for (const slug of ['grp_x', 'a b', '']) await expect(create(slug)).rejects.toMatchObject({ status: 422 })
    await expect(create('a', { holdingPeriodDays: 5 as 7 })).rejects.toMatchObject({ status: 422 })
    const six = Array.from({ length: 6 }, () => ({ url: 'https://example.com' }))
    await expect(create('a', { defaultLinks: six })).rejects.toMatchObject({ status: 422 })
  })
})

describe('updateGroup', () => {
  it('200: changes the given settings, and nothing when none differs', async () => {
    const { workspace, create } = await withProgram()
    const group = await create('gold')
    const patch = (body: object) => as(workspace)(updateGroup, { params: { id: group.id }, body })
    expect(await patch({ slug: 'gold', defaultLinks: [] })).toEqual(group)
    const changed = { ...group, slug: 'silver', holdingPeriodDays: 14, updatedAt: instant }
    expect(await patch({ slug: 'silver', holdingPeriodDays: 14 })).toEqual(changed)
  })

  it('403, 404, 409: for the slug of the default group, an unknown group, and a taken slug', async () => {
    const { workspace, create } = await withProgram()
    const group = await create('gold')
    const [first] = await as(workspace)(listGroups)
    const patch = (id: string, slug: string) => as(workspace)(updateGroup, { params: { id }, body: { slug } })
    await expect(patch(first?.id ?? '', 'other')).rejects.toMatchObject({ status: 403 })
    await expect(patch('grp_unknown', 'other')).rejects.toMatchObject({ status: 404 })
    await expect(patch(group.id, 'default')).rejects.toMatchObject({ status: 409 })
  })
})

describe('deleteGroup', () => {
  it('200: moves its partners to the default group with an activity each, and frees its slug', async () => {
    const { workspace, create } = await withProgram()
    const { id } = await create('gold')
    const partner = await buildPartner(platform, workspace, { groupId: id })
    expect(await as(workspace)(deleteGroup, { params: { id } })).toEqual({ id })
    const [first, ...others] = await as(workspace)(listGroups)
    expect(others).toEqual([])
    const move = { kind: 'group', detail: { from: id, to: first?.id } }
    expect(await partnerGroups(workspace.id, [partner.number])).toEqual({ groupIds: [first?.id], moves: [move] })
    await expect(as(workspace)(deleteGroup, { params: { id } })).rejects.toMatchObject({ status: 404 })
    await expect(create('gold')).resolves.toMatchObject({ slug: 'gold' })
  })

  it('200: archives its rewards', async () => {
    const { workspace, create } = await withProgram()
    const { id } = await create('gold')
    const terms = { event: 'sale', type: 'flat', amountInCents: 100 } as const
    const reward = await as(workspace)(createReward, { body: { groupId: id, ...terms } })
    await as(workspace)(deleteGroup, { params: { id } })
    expect(await as(workspace)(listRewards)).toEqual([])
    const archived = await sql`SELECT FROM rewards WHERE id = ${reward.id} AND archived_at IS NOT NULL`.execute(
      platform.db,
    )
    expect(archived.rows).toHaveLength(1)
  })

  it('403: for the default group', async () => {
    const { workspace } = await withProgram()
    const [group] = await as(workspace)(listGroups)
    const remove = as(workspace)(deleteGroup, { params: { id: group?.id ?? '' } })
    await expect(remove).rejects.toMatchObject({ status: 403, message: 'The default group cannot be deleted.' })
  })
})

describe('groups with move rules', () => {
  it('are at most a hundred, because each change of totals judges them all', async () => {
    const { workspace, create } = await withProgram()
    const moveRules: NewGroup['moveRules'] = [{ attribute: 'totalLeads', operator: 'gte', value: 1 }]
    await sql`INSERT INTO partner_groups (id, workspace_id, name, slug, move_rules)
      SELECT ${`grp_${workspace.id}`} || n, ${workspace.id}, n, n, ${JSON.stringify(moveRules)}::jsonb
      FROM generate_series(1, 99) AS n`.execute(platform.db)
    const last = await create('last', { moveRules })
    const other = await create('other')
    const refused = { status: 409, message: expect.stringContaining('100 groups with `moveRules`') }
    await expect(create('one-more', { moveRules })).rejects.toMatchObject(refused)
    const patch = (id: string) => as(workspace)(updateGroup, { params: { id }, body: { moveRules } })
    await expect(patch(other.id)).rejects.toMatchObject(refused)
    expect(await patch(last.id)).toMatchObject({ moveRules })
  })
})

describe('addGroupPartners', () => {
  it('200: counts the partners that moved', async () => {
    const { workspace, create } = await withProgram()
    const { id } = await create('gold')
    const partners = [await buildPartner(platform, workspace), await buildPartner(platform, workspace, { groupId: id })]
    const partnerIds = partners.map((partner) => partner.id)
    const add = () => as(workspace)(addGroupPartners, { params: { id }, body: { partnerIds } })
    expect([await add(), await add()]).toEqual([{ count: 1 }, { count: 0 }])
    const numbers = partners.map((partner) => partner.number)
    expect(await partnerGroups(workspace.id, numbers)).toMatchObject({ groupIds: [id, id], moves: [{}] })
  })

  it('404: when a partner does not exist, and none moves', async () => {
    const { workspace, create } = await withProgram()
    const { id } = await create('gold')
    const partner = await buildPartner(platform, workspace)
    const body = { partnerIds: [partner.id, 'pn_unknown'] }
    await expect(as(workspace)(addGroupPartners, { params: { id }, body })).rejects.toMatchObject({ status: 404 })
    expect(await partnerGroups(workspace.id, [partner.number])).toMatchObject({ moves: [] })
  })
})
