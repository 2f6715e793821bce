import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { groupsById, groupsByNumber } from '../groups/service.ts'
import { requireProgram } from '../programs/service.ts'
import {
  addPartnerTotals,
  type ClaimedPartner,
  claimPartners,
  findPartner,
  findPartnersById,
  lockManyPartners,
  lockPartners,
  type Partner,
  partnersByNumber,
  recordActivities,
  requirePartner,
  summarizePartners,
  totalsByPartner,
} from './service.ts'

const platform = await openTestPlatform()

async function open() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const ctx = contextIn(platform, workspace.id)
  const partners = [
    await buildPartner(platform, workspace, { tenant_id: 't' }),
    await buildPartner(platform, workspace),
  ]
  const [one, two] = partners as [(typeof partners)[0], (typeof partners)[0]]
  return { workspace, ctx, one, two }
}

function claimedColumns({ number, id, group_number, is_pinned, status, country, email }: Partner): ClaimedPartner {
  return { number, id, group_number, is_pinned, status, country, email }
}

test('finds a partner by partnerId before tenantId, and not in another workspace', async () => {
  const { ctx, one, two } = await open()
  expect(await requirePartner(ctx, { partnerId: two.id, tenantId: 't' })).toEqual(two)
  expect(await requirePartner(ctx, { tenantId: 't' })).toEqual(one)
  await expect(requirePartner(ctx, {})).rejects.toMatchObject({ status: 400 })
  await expect(requirePartner(ctx, { tenantId: 'u' })).rejects.toMatchObject({ status: 404 })
  const other = await open()
  expect(await findPartner(other.ctx, { partnerId: one.id })).toBeUndefined()
})

test('records activities with the actor, and reads partners by number', async () => {
  const { ctx, one, two } = await open()
  await recordActivities(ctx, [{ partnerNumber: two.number, kind: 'note', detail: { text: 'a' } }])
  const result = await sql`SELECT kind, actor, detail FROM partner_activities
    WHERE partner_number = ${two.number} ORDER BY number`.execute(platform.db)
  expect(result.rows).toEqual([
    { kind: 'approved', actor: 'key key_test', detail: {} },
    { kind: 'note', actor: 'key key_test', detail: { text: 'a' } },
  ])
  const byNumber = await partnersByNumber(ctx, [one.number, two.number])
  const groups = await groupsByNumber(ctx, [one.group_number])
  expect(await summarizePartners(ctx, [one.number])).toEqual(
    new Map([[one.number, expect.objectContaining({ id: one.id, groupId: groups.get(one.group_number)?.id })]]),
  )
  expect(byNumber.get(two.number)).toEqual(two)
  expect(await requireProgram(ctx)).toMatchObject({ currency: 'usd' })
  expect((await groupsById(ctx, [groups.get(one.group_number)?.id ?? ''])).size).toBe(1)
})

test('the id of a merged partner finds the partner it became', async () => {
  const { ctx, one, two } = await open()
  await sql`UPDATE partners SET merged_into = ${two.number} WHERE number = ${one.number}`.execute(platform.db)
  const brief = { ...claimedColumns(two), name: two.name, image: two.image }
  expect(await findPartnersById(ctx, [one.id, two.id])).toEqual(
    new Map([
      [one.id, brief],
      [two.id, brief],
    ]),
  )
  expect(await findPartner(ctx, { partnerId: one.id })).toEqual(two)
  const { partners, byId } = await transaction(ctx, ({ db }) =>
    claimPartners(db, ctx.workspaceId, [one.id, 'pn_unknown']),
  )
  expect({ partners, byId }).toEqual({ partners: [claimedColumns(two)], byId: new Map([[one.id, two.number]]) })
})

test('claimed partners are skipped by others, and locking waits for them', async () => {
  const { ctx, one, two } = await open()
  const order: string[] = []
  const [claimed, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const claiming = transaction(ctx, async ({ db }) => {
    expect((await claimPartners(db, ctx.workspaceId, [one.id])).partners).toEqual([claimedColumns(one)])
    claimed.resolve()
    await released.promise
    order.push('claimed')
  })
  await claimed.promise
  const others = await transaction(ctx, ({ db }) => claimPartners(db, ctx.workspaceId, [one.id, two.id]))
  expect(others.partners).toEqual([claimedColumns(two)])
  const locking = transaction(ctx, async ({ db }) => {
    expect(await lockPartners(db, ctx.workspaceId, [two.number, one.number])).toEqual([one, two])
    order.push('locked')
  })
  await sleep(100)
  released.resolve()
  await locking
  await claiming
  expect(order).toEqual(['claimed', 'locked'])
})

test('concurrent additions to totals neither deadlock nor are lost', async () => {
  const { ctx, one, two } = await open()
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const changes = [
        { partnerNumber: one.number, clicks: 1n },
        { partnerNumber: two.number, sale_amount: 5n, commissions: -1n },
        { partnerNumber: one.number, leads: 2n },
      ]
      return addPartnerTotals(platform.db, index % 2 ? changes : changes.toReversed())
    }),
  )
  const totals = await totalsByPartner(ctx, [one.number, two.number])
  expect(totals.get(one.number)).toMatchObject({ clicks: 20n, leads: 40n, sales: 0n })
  expect(totals.get(two.number)).toMatchObject({ clicks: 0n, sale_amount: 100n, commissions: -20n })
})

test('many partners are locked without the texts of their profiles and applications', async () => {
  const { ctx, one, two } = await open()
  const locked = await transaction(ctx, ({ db }) =>
    lockManyPartners(db, ctx.workspaceId, [two.number, one.number, two.number]),
  )
  expect(locked).toEqual([one, two].map(claimedColumns))
})
