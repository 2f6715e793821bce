import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { removeOldActivities } from './activities.ts'
import { recordActivities } from './service.ts'

const platform = await openTestPlatform()

test('activities expire with the audit log, except the bans that lifting them still needs', async () => {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const [free, banned] = [await buildPartner(platform, workspace), await buildPartner(platform, workspace)]
  await sql`UPDATE partners SET status = 'banned' WHERE number = ${banned.number}`.execute(platform.db)
  const numbers = [free.number, banned.number]
  const add = (...kinds: string[]) =>
    recordActivities(
      contextIn(platform, workspace.id),
      numbers.flatMap((partnerNumber) => kinds.map((kind) => ({ partnerNumber, kind }))),
    )
  await add('banned', ...Array<string>(1_100).fill('group'))
  await sql`UPDATE partner_activities SET created_at = now() - interval '731 days'
    WHERE partner_number = ANY(${numbers}::bigint[])`.execute(platform.db)
  await add('archived')
  await removeOldActivities(platform)
  const left = await sql<{ partner_number: bigint; kind: string }>`SELECT partner_number, kind FROM partner_activities
    WHERE partner_number = ANY(${numbers}::bigint[]) ORDER BY number`.execute(platform.db)
  expect(left.rows).toEqual([
    { partner_number: banned.number, kind: 'banned' },
    { partner_number: free.number, kind: 'archived' },
    { partner_number: banned.number, kind: 'archived' },
  ])
})
