import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { clickRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { storePartnerChanges } from '../../../test/events/world.ts'
import { type BuiltPartner, type BuiltProgram, buildPartner, buildProgram } from '../../../test/program.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { reconcilePartners } from '../../maintenance/partners.ts'
import { restorePartners } from '../../maintenance/rebuild.ts'
import { query } from '../../platform/clickhouse.ts'
import { transaction } from '../../platform/postgres.ts'
import { countEvents } from '../analytics/service.ts'
import { keepLinkAttributes } from '../event-storage/service.ts'
import { createGroup, requireGroup } from '../groups/service.ts'
import { createPartnerTag, deletePartnerTag } from '../partner-tags/service.ts'
import { mergeRows, movePartners, replaceTags } from '../partners/service.ts'
import { startPartnerAttributes } from './jobs.ts'
import { storeLaterPartners } from './service.ts'

const platform = await openTestPlatform()

type Stored = { group_id: string; tag_ids: string[] }

function readStored(partnerId: string): Promise<Stored[]> {
  return query<Stored>(
    platform.clickhouse,
    'SELECT group_id, tag_ids FROM partner_attributes FINAL WHERE partner_id = {partnerId:String}',
    { partnerId },
  )
}

async function moveTo({ ctx }: BuiltProgram, partner: BuiltPartner, slug: string) {
  const { id } = await createGroup(ctx, { name: slug, slug })
  const group = await requireGroup(ctx, id)
  await transaction(ctx, (ctx) => movePartners(ctx, [partner.number], group))
  return group
}

describe('ClickHouse has the present group and tags of a partner', () => {
  test('when it is added, moved and tagged, when a tag is deleted, and when it is merged', async () => {
    const program = await buildProgram(platform)
    const { ctx } = program
    const [partner, other] = [await buildPartner(platform, program), await buildPartner(platform, program)]
    const store = () => storePartnerChanges(platform, ctx.workspaceId)
    await store()
    expect(await readStored(partner.id)).toEqual([{ group_id: program.group.id, tag_ids: [] }])

    const gold = await moveTo(program, partner, 'gold')
    const tags = [(await createPartnerTag(ctx, { name: 'a' })).id, (await createPartnerTag(ctx, { name: 'b' })).id]
    await transaction(ctx, (ctx) => replaceTags(ctx, partner.number, tags))
    await store()
    expect(await readStored(partner.id)).toEqual([{ group_id: gold.id, tag_ids: tags.toSorted() }])

    await deletePartnerTag(ctx, tags[0] ?? '')
    await store()
    expect(await readStored(partner.id)).toEqual([{ group_id: gold.id, tag_ids: [tags[1]] }])

    await transaction(ctx, (ctx) => mergeRows(ctx, partner, other))
    await store()
    expect(await readStored(partner.id)).toEqual([{ group_id: '', tag_ids: [] }])
    expect(await readStored(other.id)).toEqual([{ group_id: program.group.id, tag_ids: [tags[1]] }])
  })

  test('and a move shows in analytics within two seconds, without a change of links', async () => {
    const program = await buildProgram(platform)
    const { ctx, workspace } = program
    const partner = await buildPartner(platform, program)
    const link = { workspaceId: workspace.id, linkNumber: partner.link.number }
    const named = { linkNumber: String(link.linkNumber), partnerId: partner.id, workspaceId: workspace.id }
    const none = { domain: '', lookupKey: '', isRoot: false, folderId: '', tenantId: '', tagIds: [], deleted: false }
    await keepLinkAttributes(platform, [{ ...none, ...named, version: 1_000_000 }])
    await storeEvents(platform, { clicks: [clickRow(link), clickRow(link)] })
    await using _ = startPartnerAttributes(platform)
    const gold = await moveTo(program, partner, 'gold')
    const asked = { event: 'clicks', interval: '24h', timezone: 'UTC', bots: 'exclude', visitors: false } as const
    await eventually(async () => {
      const rows = await countEvents(ctx, { ...asked, groupBy: 'top_groups' })
      const { id, name, slug, color } = gold
      const counts = { clicks: 2, leads: 0, sales: 0, saleAmount: 0 }
      expect(rows).toEqual([{ groupId: gold.id, group: { id, name, slug, color }, ...counts }])
    }, 2_000)
    const count = (groupId: string) => countEvents(ctx, { ...asked, groupBy: 'count', groupId })
    expect(await count(gold.id)).toMatchObject({ clicks: 2 })
    expect(await count(program.group.id)).toMatchObject({ clicks: 0 })
    expect(await count(`-${gold.id}`)).toMatchObject({ clicks: 0 })
    expect(await countEvents(ctx, { ...asked, groupBy: 'top_partners' })).toMatchObject([
      { partnerId: partner.id, partner: { id: partner.id, name: 'Ada', email: partner.email }, clicks: 2 },
    ])
  })
})

async function findStale(workspaceId: string, repair: boolean) {
  const found = []
  for await (const { findings } of reconcilePartners(platform, { workspaceId, repair })) found.push(...findings)
  return found
}

test('`verify` finds and repairs a partner that ClickHouse lost or has in another group', async () => {
  const program = await buildProgram(platform)
  const { ctx } = program
  const [lost, wrong] = [await buildPartner(platform, program), await buildPartner(platform, program)]
  await storePartnerChanges(platform, ctx.workspaceId)
  expect(await findStale(ctx.workspaceId, false)).toEqual([])

  await platform.clickhouse.command({
    query: 'ALTER TABLE partner_attributes DELETE WHERE partner_id = {id:String}',
    query_params: { id: lost.id },
    clickhouse_settings: { mutations_sync: '2' },
  })
  const next = await sql<{ version: string }>`SELECT nextval('partner_attribute_versions')::text AS version`.execute(
    platform.db,
  )
  const values = [{ workspace_id: ctx.workspaceId, partner_id: wrong.id, group_id: 'grp_x', ...next.rows[0] }]
  await platform.clickhouse.insert({ table: 'partner_attributes', values, format: 'JSONEachRow' })
  const recorded = { groupId: program.group.id, tagIds: [] }
  const findings = [
    { partnerId: lost.id, workspaceId: ctx.workspaceId, stored: null, recorded, repaired: false },
    {
      partnerId: wrong.id,
      workspaceId: ctx.workspaceId,
      stored: { groupId: 'grp_x', tagIds: [] },
      recorded,
      repaired: false,
    },
  ]
  expect(await findStale(ctx.workspaceId, false)).toEqual(findings)
  expect(await findStale(ctx.workspaceId, true)).toEqual(findings.map((finding) => ({ ...finding, repaired: true })))
  expect(await findStale(ctx.workspaceId, false)).toEqual([])
})

test('a rebuild writes all partners, and after a restore of PostgreSQL those with a later version', async () => {
  const program = await buildProgram(platform)
  const { ctx } = program
  const partner = await buildPartner(platform, program)
  await storePartnerChanges(platform, ctx.workspaceId)
  const next = await sql<{ version: bigint }>`SELECT nextval('partner_attribute_versions') AS version`.execute(
    platform.db,
  )
  const version = next.rows[0]?.version ?? 0n
  const values = [
    { workspace_id: ctx.workspaceId, partner_id: partner.id, group_id: 'grp_x', version: String(version) },
  ]
  const spoil = () => platform.clickhouse.insert({ table: 'partner_attributes', values, format: 'JSONEachRow' })
  await spoil()
  expect(await readStored(partner.id)).toMatchObject([{ group_id: 'grp_x' }])
  await storeLaterPartners(platform, version - 1n)
  await storePartnerChanges(platform, ctx.workspaceId)
  expect(await readStored(partner.id)).toMatchObject([{ group_id: program.group.id }])

  await platform.clickhouse.command({
    query: 'ALTER TABLE partner_attributes DELETE WHERE workspace_id = {id:String}',
    query_params: { id: ctx.workspaceId },
    clickhouse_settings: { mutations_sync: '2' },
  })
  await restorePartners(platform, () => {})
  expect(await readStored(partner.id)).toMatchObject([{ group_id: program.group.id }])
})
