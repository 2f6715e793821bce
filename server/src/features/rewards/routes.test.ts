import { createClient } from '@tributary/contract/client'
import { createGroup, listGroups } from '@tributary/contract/groups'
import {
  createReward,
  deleteReward,
  getReward,
  listRewards,
  listRewardVersions,
  type NewReward,
  type Reward,
  updateReward,
} from '@tributary/contract/rewards'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const unknownReward = 'There is no reward rw_unknown in this workspace.'
const noProgram = 'This workspace has no partner program. Create one with POST /programs.'

async function send(workspace: Pick<BuiltWorkspace, 'key'>, method: string, path: string, body?: object) {
  const response = await fetch(api + path, {
    method,
    headers: { authorization: `Bearer ${workspace.key}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as { error?: { code: string; message: string } }
  return { status: response.status, code: answer.error?.code, message: answer.error?.message, answer }
}

const sale = { event: 'sale', type: 'percentage', amountInPercentage: 20, maxDuration: 12 } as const
const lead = { event: 'lead', type: 'flat', amountInCents: 200 } as const
const leadInstead = { ...lead, amountInPercentage: undefined, maxDuration: undefined }

async function withProgram() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = as(workspace)
  const [group] = await call(listGroups)
  const groupId = group?.id as string
  const create = (given: Partial<NewReward> = {}) =>
    call(createReward, { body: { groupId, ...sale, ...given } as NewReward })
  return { workspace, call, groupId, create }
}

const created: Omit<Reward, 'id' | 'groupId'> = {
  partnerId: null,
  version: 1,
  event: 'sale',
  type: 'percentage',
  amountInCents: null,
  amountInPercentage: 20,
  maxDuration: 12,
  modifiers: [],
  spendLimitAmount: null,
  spendLimitInterval: null,
  spendLimitScope: null,
  description: null,
  createdAt: instant,
  updatedAt: instant,
}

describe('createReward', () => {
  it('201: of a group, and of a partner', async () => {
    const { workspace, call, groupId, create } = await withProgram()
    const reward = await create()
    expect(reward).toEqual({ ...created, id: expect.stringMatching(/^rw_/), groupId })
    expect(await call(getReward, { params: { id: reward.id } })).toEqual(reward)
    const partner = await buildPartner(platform, workspace)
    const own = await create({ groupId: null, partnerId: partner.id, amountInPercentage: 33.33 })
    expect(own).toMatchObject({ groupId: null, partnerId: partner.id, amountInPercentage: 33.33 })
    const activities = await sql<{ detail: object }>`SELECT detail FROM partner_activities
      WHERE partner_number = ${partner.number} AND kind = 'reward'`.execute(platform.db)
    expect(activities.rows).toEqual([{ detail: { rewardId: own.id, event: 'sale', version: 1, change: 'created' } }])
  })

  it('201: with modifiers and a limit, as sent', async () => {
    const { create } = await withProgram()
    const value = ['DE', 'AT']
    const conditions = [{ entity: 'customer' as const, attribute: 'country', operator: 'in' as const, value }]
    const modifiers = [
      { operator: 'OR' as const, conditions, type: 'flat' as const, amountInCents: 500, maxDuration: null },
    ]
    expect(await create({ modifiers, spendLimitAmount: 10_000, description: 'Up to 100.00' })).toMatchObject({
      modifiers: [{ ...modifiers[0], amountInPercentage: null }],
      spendLimitAmount: 10_000,
      spendLimitInterval: 'allTime',
      spendLimitScope: 'partner',
      description: 'Up to 100.00',
    })
  })

  it('400: a missing event', async () => {
    const { workspace, groupId } = await withProgram()
    const answer = await send(workspace, 'POST', '/rewards', { groupId, type: 'flat', amountInCents: 1 })
    expect(answer).toMatchObject({ status: 400, message: '`event` in the body is required.' })
  })

  it('401 and 403: without a key, and with a key of another scope', async () => {
    await expect(as({ key: 'trib_unknown' })(listRewards)).rejects.toMatchObject({ status: 401 })
    const reader = await buildWorkspace(platform, { scopes: ['partners.read'] })
    expect(await send(reader, 'POST', '/rewards', sale)).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('404: an unknown group or partner, and a workspace without a program', async () => {
    const { create } = await withProgram()
    await expect(create({ groupId: 'grp_unknown' })).rejects.toMatchObject({ status: 404 })
    await expect(create({ groupId: null, partnerId: 'pn_unknown' })).rejects.toMatchObject({ status: 404 })
    const bare = await buildWorkspace(platform)
    const answer = await send(bare, 'POST', '/rewards', { groupId: 'grp_unknown', ...sale })
    expect(answer).toMatchObject({ status: 404, message: noProgram })
  })

  it('409: a second reward for the event, also when both are created at once', async () => {
    const { create, groupId } = await withProgram()
    const results = await Promise.allSettled([create(), create(), create()])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const message = `The group ${groupId} has a sale reward already. Change it with PATCH /rewards/{id}.`
    await expect(create()).rejects.toMatchObject({ status: 409, message })
    expect(await create({ ...lead, amountInPercentage: null, maxDuration: 0 })).toMatchObject({ event: 'lead' })
  })

  it.each([
    [{ amountInPercentage: 100.5 }, '`amountInPercentage` in the body must be at most 100, not 100.5.'],
    [{ amountInPercentage: 1.234 }, '`amountInPercentage` in the body is not allowed: it has more than two decimals.'],
    [{ type: 'flat' }, '`amountInCents` in the body is not allowed: a flat reward needs it.'],
    [{ partnerId: 'pn_1' }, '`partnerId` in the body is not allowed: a reward has either a group or a partner.'],
    [{ groupId: null }, '`groupId` in the body is not allowed: a reward has either a group or a partner.'],
    [{ maxDuration: 601 }, '`maxDuration` in the body must be at most 600, not 601.'],
    [
      {
        event: 'click',
        type: 'flat',
        amountInPercentage: null,
        amountInCents: 1,
        spendLimitAmount: 1,
        spendLimitScope: 'customer',
        maxDuration: 0,
      },
      '`spendLimitScope` in the body is not allowed: clicks have no customer.',
    ],
  ])('422: %j', async (given, message) => {
    const { workspace, groupId } = await withProgram()
    const answer = await send(workspace, 'POST', '/rewards', { groupId, ...sale, ...given })
    expect(answer).toMatchObject({ status: 422 })
    expect(answer.message).toContain(message)
  })
})

it('a group has at most 100 rewards for an event, also when each is deleted before the next', async () => {
  const { workspace, groupId, create } = await withProgram()
  await sql`INSERT INTO rewards (id, workspace_id, group_number, event, archived_at)
    SELECT gen_random_uuid(), ${workspace.id}, number, 'sale', now() FROM partner_groups, generate_series(1, 100)
    WHERE workspace_id = ${workspace.id} AND id = ${groupId}`.execute(platform.db)
  await expect(create()).rejects.toMatchObject({ status: 409, message: expect.stringContaining('has had 100 sale') })
  expect(await create(leadInstead)).toMatchObject({ event: 'lead' })
})

it('the versions of a reward have at most 4 million characters together, and are at most 1,000', async () => {
  const { workspace, call, create } = await withProgram()
  const grow = async (id: string, version: number, characters: number) =>
    sql`INSERT INTO reward_versions (reward_number, workspace_id, version, terms, actor)
      SELECT r.number, r.workspace_id, ${version}, v.terms || jsonb_build_object('x', repeat('x', ${characters}::int)), 'test'
      FROM rewards r JOIN reward_versions v ON v.reward_number = r.number
      WHERE r.workspace_id = ${workspace.id} AND r.id = ${id}`.execute(platform.db)
  const update = (id: string) => call(updateReward, { params: { id }, body: { amountInPercentage: 21 } })
  const [large, old] = [await create(), await create(leadInstead)]
  await grow(large.id, 2, 4_000_000)
  await expect(update(large.id)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('characters') })
  await grow(old.id, 1_000, 1)
  const again = call(updateReward, { params: { id: old.id }, body: { amountInCents: 201 } })
  await expect(again).rejects.toMatchObject({ status: 409, message: expect.stringContaining('1000 versions') })
})

describe('listRewards', () => {
  it('200: newest first, filtered and in pages', async () => {
    const { workspace, call, groupId, create } = await withProgram()
    const other = await call(createGroup, { body: { name: 'Gold', slug: 'gold' } })
    const partner = await buildPartner(platform, workspace)
    const rewards = [
      await create(),
      await create({ ...lead, amountInPercentage: null, maxDuration: 0 }),
      await create({ groupId: other.id }),
      await create({ groupId: null, partnerId: partner.id }),
    ]
    const ids = rewards.map(({ id }) => id).reverse()
    const list = async (query = {}) => (await call(listRewards, { query })).map(({ id }) => id)
    expect(await list()).toEqual(ids)
    expect(await list({ page: 2, pageSize: 3 })).toEqual(ids.slice(3))
    expect(await list({ sortOrder: 'asc' })).toEqual(ids.toReversed())
    expect(await list({ groupId })).toEqual(ids.slice(2))
    expect(await list({ groupId, event: 'lead' })).toEqual([ids[2]])
    expect(await list({ partnerId: partner.id })).toEqual([ids[0]])
  })

  it('404: an unknown group or partner, and a workspace without a program', async () => {
    const { call } = await withProgram()
    await expect(call(listRewards, { query: { groupId: 'grp_unknown' } })).rejects.toMatchObject({ status: 404 })
    await expect(call(listRewards, { query: { partnerId: 'pn_unknown' } })).rejects.toMatchObject({ status: 404 })
    const bare = as(await buildWorkspace(platform))
    await expect(bare(listRewards)).rejects.toMatchObject({ status: 404, message: noProgram })
  })
})

describe('updateReward', () => {
  it('200: makes a new version, and keeps the old ones', async () => {
    const { call, groupId, create } = await withProgram()
    const { id, ...reward } = await create({ spendLimitAmount: 5_000, spendLimitInterval: 'day' })
    const update = (body: object) => call(updateReward, { params: { id }, body })
    const patched = await update({ amountInPercentage: 25 })
    expect(patched).toEqual({ ...reward, id, groupId, version: 2, amountInPercentage: 25, updatedAt: instant })
    expect(await update({ type: 'flat', amountInCents: 700, applyTo: 'allFutureSales' })).toMatchObject({
      version: 3,
      type: 'flat',
      amountInCents: 700,
      amountInPercentage: null,
      spendLimitInterval: 'day',
    })
    expect(await update({ spendLimitAmount: null, maxDuration: null })).toMatchObject({
      version: 4,
      maxDuration: null,
      spendLimitAmount: null,
      spendLimitInterval: null,
      spendLimitScope: null,
    })
    const versions = await call(listRewardVersions, { params: { id } })
    expect(versions.map(({ version, applyTo, type }) => [version, applyTo, type])).toEqual([
      [4, 'newCustomers', 'flat'],
      [3, 'allFutureSales', 'flat'],
      [2, 'newCustomers', 'percentage'],
      [1, 'newCustomers', 'percentage'],
    ])
    const oldest = { params: { id }, query: { sortOrder: 'asc', pageSize: 2 } } as const
    expect((await call(listRewardVersions, oldest)).map(({ version }) => version)).toEqual([1, 2])
    expect(versions[0]).toMatchObject({ createdAt: instant, createdBy: expect.stringMatching(/^key key_/) })
  })

  it('200: makes no version when nothing changes, unless it now applies to all', async () => {
    const { call, create } = await withProgram()
    const { id } = await create()
    const update = async (body: object) => (await call(updateReward, { params: { id }, body })).version
    expect(await update({})).toBe(1)
    expect(await update({ amountInPercentage: 20, modifiers: [] })).toBe(1)
    expect(await update({ applyTo: 'allFutureSales' })).toBe(2)
    expect(await update({ applyTo: 'allFutureSales' })).toBe(2)
  })

  it('200: concurrent changes become consecutive versions', async () => {
    const { call, create } = await withProgram()
    const { id } = await create()
    const changes = Array.from({ length: 8 }, (_, index) =>
      call(updateReward, { params: { id }, body: { amountInPercentage: 30 + index } }),
    )
    const versions = (await Promise.all(changes)).map(({ version }) => version)
    expect(versions.sort((one, other) => one - other)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('404: an unknown or deleted reward', async () => {
    const { call, create } = await withProgram()
    const unknown = { params: { id: 'rw_unknown' }, body: {} }
    await expect(call(updateReward, unknown)).rejects.toMatchObject({ status: 404, message: unknownReward })
    const { id } = await create()
    await call(deleteReward, { params: { id } })
    await expect(call(updateReward, { params: { id }, body: {} })).rejects.toMatchObject({ status: 404 })
  })

  it('422: terms that do not fit together', async () => {
    const { workspace, create } = await withProgram()
    const { id } = await create()
    const patch = (body: object) => send(workspace, 'PATCH', `/rewards/${id}`, body)
    const message = '`amountInCents` in the body is not allowed: a flat reward needs it.'
    expect(await patch({ type: 'flat' })).toMatchObject({ status: 422, message })
    expect(await patch({ amountInCents: 5 })).toMatchObject({ status: 422 })
    expect(await patch({ spendLimitInterval: 'day' })).toMatchObject({ status: 422 })
    expect(await patch({ applyTo: 'nobody' })).toMatchObject({ status: 422 })
  })
})

describe('getReward', () => {
  it('404: an unknown reward, and one of another workspace', async () => {
    const { create } = await withProgram()
    const { id } = await create()
    const { call } = await withProgram()
    await expect(call(getReward, { params: { id } })).rejects.toMatchObject({ status: 404 })
    const unknown = call(getReward, { params: { id: 'rw_unknown' } })
    await expect(unknown).rejects.toMatchObject({ status: 404, message: unknownReward })
  })
})

describe('deleteReward', () => {
  it('200: makes room for another reward, and keeps the versions', async () => {
    const { call, create } = await withProgram()
    const { id } = await create()
    expect(await call(deleteReward, { params: { id } })).toEqual({ id })
    await expect(call(deleteReward, { params: { id } })).rejects.toMatchObject({ status: 404 })
    expect(await call(listRewards)).toEqual([])
    expect(await call(listRewardVersions, { params: { id } })).toHaveLength(1)
    expect(await create()).toMatchObject({ version: 1 })
  })
})

describe('listRewardVersions', () => {
  it('404: an unknown reward, and one of another workspace', async () => {
    const { create } = await withProgram()
    const { id } = await create()
    const { call } = await withProgram()
    await expect(call(listRewardVersions, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })
})

it('stored versions never change', async () => {
  const { create } = await withProgram()
  await create()
  for (const statement of [sql`UPDATE reward_versions SET version = 9`, sql`DELETE FROM reward_versions`]) {
    await expect(statement.execute(platform.db)).rejects.toThrow('rows of reward_versions never change')
  }
})
