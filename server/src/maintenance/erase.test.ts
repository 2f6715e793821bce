import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildLink, buildMember, buildPartner, buildProgram, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { callAs } from '../../test/session.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { countRows } from '../../test/workspace-rows.ts'
import { createCommission } from '../features/commissions/create.ts'
import { runMaturing } from '../features/commissions/mature.ts'
import { createDiscount } from '../features/discounts/service.ts'
import { createFolder } from '../features/folders/service.ts'
import { createGroup } from '../features/groups/service.ts'
import { createReward } from '../features/rewards/manage.ts'
import { migrationTable } from '../platform/migrate.ts'
import { eraseWorkspaces } from './erase.ts'
import { selectErasableTables } from './erase-store.ts'

const platform = await openTestPlatform()

async function buildFull() {
  const workspace = await buildWorkspace(platform)
  const owner = await buildMember(platform, workspace, 'owner')
  const ctx = contextIn(platform, workspace.id)
  await buildProgram(platform, workspace)
  const group = await createGroup(ctx, { name: 'g', slug: 'g' })
  await createReward(ctx, { groupId: group.id, event: 'lead', type: 'flat', amountInCents: 1 })
  await createDiscount(ctx, { groupId: group.id, type: 'flat', amount: 1 })
  const partner = await buildPartner(platform, workspace, { groupId: group.id })
  const folder = await createFolder(ctx, { name: 'f', accessLevel: 'read' })
  await buildLink(platform, workspace, { partnerId: partner.id, folderId: folder.id })
  await createCommission(ctx, { type: 'custom', partnerId: partner.id, amount: 5 })
  await sql`INSERT INTO commission_keys (source, kind, partner_number, commission_number)
    SELECT number, 0, partner_number, number FROM commissions WHERE workspace_id = ${workspace.id}`.execute(platform.db)
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [workspace.id] })
  // More rows than a batch has.
  await sql`INSERT INTO tags (id, workspace_id, name, color)
    SELECT 'tag_' || gen_random_uuid(), ${workspace.id}, 'tag ' || n, 'red' FROM generate_series(1, 6000) AS n`.execute(
    platform.db,
  )
  return { workspace, owner }
}

async function commissionNumbers(workspaceId: string): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`SELECT number FROM commissions
    WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  return result.rows.map(({ number }) => number)
}

async function countKeys(commissions: bigint[]): Promise<number> {
  const result = await sql`SELECT FROM commission_keys WHERE commission_number = ANY(${commissions})`.execute(
    platform.db,
  )
  return result.rows.length
}

test('every row of a workspace is erased, with postings and versions of terms, and no row of another', async () => {
  const [ours, theirs] = [await buildFull(), await buildFull()]
  expect(await countRows(platform, ours.workspace.id)).toMatchObject({
    tags: 6_000,
    ledger_postings: 2,
    reward_versions: 1,
  })
  const before = await countRows(platform, theirs.workspace.id)
  const commissions = await commissionNumbers(ours.workspace.id)
  expect(await countKeys(commissions)).toBe(1)
  const call = callAs(ours.owner)
  const { slug, id } = ours.workspace
  expect((await call('DELETE', `/workspaces/${id}?confirm=${slug}`)).status).toBe(202)
  // Several workers erase at once, and one ends in the middle of its work.
  const stopping = new AbortController()
  setTimeout(() => stopping.abort(), 50)
  await Promise.all([
    eraseWorkspaces(platform, stopping.signal),
    eraseWorkspaces(platform, new AbortController().signal),
  ])
  const progress = async () => (await call('GET', `/workspaces/${slug}/deletion`)).body
  await eventually(async () => expect(await progress()).toMatchObject({ status: 'erased', step: '' }), 180_000)
  expect((await progress()).erasedRows).toBeGreaterThan(6_000)
  expect(await countRows(platform, id)).toEqual({})
  expect(await countKeys(commissions)).toBe(0)
  expect(await countKeys(await commissionNumbers(theirs.workspace.id))).toBe(1)
  expect((await sql`SELECT FROM workspaces WHERE id = ${id}`.execute(platform.db)).rows).toEqual([])
  expect(await countRows(platform, theirs.workspace.id)).toEqual(before)
}, 240_000)

test('postings and versions of terms can not be deleted while their workspace exists', async () => {
  const { workspace } = await buildFull()
  for (const table of ['ledger_postings', 'reward_versions']) {
    const deleting = sql`DELETE FROM ${sql.table(table)} WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    await expect(deleting).rejects.toThrow('never change')
  }
})

// Tables of the installation, of users and of persons.
const others = new Set(
  `workspaces workspace_deletions users sessions accounts verifications two_factors passkeys audit_person_keys audit_counts
  ingest_cursors click_days rollup_starts handled_events database_incarnation engine_rewinds
  process_beats maintenance_runs known_release`
    .split(/\s+/)
    .concat(migrationTable),
)

test('a new table has a column `workspace_id`, refers to a table that has one, or is not about a workspace', async () => {
  const result = await sql<{ name: string }>`SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`.execute(platform.db)
  const erased = new Set((await selectErasableTables(platform.db)).map(({ name }) => name))
  expect(result.rows.map(({ name }) => name).filter((name) => !erased.has(name) && !others.has(name))).toEqual([])
})

test('tables that refer to others come first', async () => {
  const names = (await selectErasableTables(platform.db)).map(({ name }) => name)
  expect(names.indexOf('link_tags')).toBeLessThan(names.indexOf('links'))
  expect(names.indexOf('commission_details')).toBeLessThan(names.indexOf('commissions'))
  expect(names.indexOf('commissions')).toBeLessThan(names.indexOf('payouts'))
  expect(names).not.toContain('workspaces')
  expect(names).not.toContain('users')
})
