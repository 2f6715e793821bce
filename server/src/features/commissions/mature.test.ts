import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, matureAll, readCommissions } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createCommission } from './create.ts'
import { runMaturing } from './mature.ts'

const platform = await openTestPlatform()

async function buildDue() {
  const program = await buildProgram(platform)
  const { id: partnerId } = await buildPartner(platform, program)
  for (const amount of [100, 200]) await createCommission(program.ctx, { type: 'custom', partnerId, amount })
  return program
}

test('a workspace whose commissions can not mature does not stop the others', async () => {
  const [broken, sound] = [await buildDue(), await buildDue()]
  const workspaceIds = [broken.ctx.workspaceId, sound.ctx.workspaceId]
  const statuses = async (program: typeof sound) => (await readCommissions(program)).map(({ status }) => status)
  await sql`CREATE TRIGGER broken BEFORE INSERT ON payouts FOR EACH ROW
    WHEN (NEW.workspace_id = '${sql.raw(broken.ctx.workspaceId)}') EXECUTE FUNCTION refuse_change()`.execute(
    platform.db,
  )
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds })
  expect([await statuses(broken), await statuses(sound)]).toEqual([
    ['pending', 'pending'],
    ['processed', 'processed'],
  ])
  await sql`DROP TRIGGER broken ON payouts`.execute(platform.db)
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds })
  expect(await statuses(broken)).toEqual(['processed', 'processed'])
})

test('a sum beyond 64 bits matures in several postings', async () => {
  const program = await buildDue()
  await sql`UPDATE commissions SET earnings = ${2n ** 63n - 1n}
    WHERE workspace_id = ${program.ctx.workspaceId}`.execute(platform.db)
  await matureAll(platform, program)
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(['processed', 'processed'])
  const postings = await sql<{ amount: bigint }>`SELECT amount FROM ledger_postings
    WHERE workspace_id = ${program.ctx.workspaceId} AND kind = 'matured'`.execute(platform.db)
  const sum = postings.rows.reduce((sum, { amount }) => sum + amount, 0n)
  expect([postings.rows.length, sum]).toEqual([3, 2n ** 64n - 2n])
})
