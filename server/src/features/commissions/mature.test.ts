import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, readCommissions } from '../../../test/program.ts'
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
  // Their sum exceeds the largest number of PostgreSQL.
  await sql`UPDATE commissions SET earnings = earnings + ${2n ** 62n}
    WHERE workspace_id = ${broken.ctx.workspaceId}`.execute(platform.db)
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds })
  expect([await statuses(broken), await statuses(sound)]).toEqual([
    ['pending', 'pending'],
    ['processed', 'processed'],
  ])
  await sql`UPDATE commissions SET earnings = earnings - ${2n ** 62n}
    WHERE workspace_id = ${broken.ctx.workspaceId}`.execute(platform.db)
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds })
  expect(await statuses(broken)).toEqual(['processed', 'processed'])
})
