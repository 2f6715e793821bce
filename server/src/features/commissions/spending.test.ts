import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildEarner } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { removeOldSpending } from './spending.ts'

const platform = await openTestPlatform()

test('what was spent in days, weeks and months is deleted after two years; limits in total stay', async () => {
  const { reward } = await buildEarner(platform)
  await sql`INSERT INTO commission_spending (reward_number, scope, period_start, amount) VALUES
    (${reward}, 'allTime:program', to_timestamp(0), 1), (${reward}, 'month:program', now() - interval '700 days', 2)`.execute(
    platform.db,
  )
  await sql`INSERT INTO commission_spending (reward_number, scope, period_start, amount)
    SELECT ${reward}, 'day:partner:' || number, now() - interval '732 days', 3 FROM generate_series(1, 1500) AS number`.execute(
    platform.db,
  )
  await removeOldSpending(platform)
  const left = await sql`SELECT scope FROM commission_spending WHERE reward_number = ${reward} ORDER BY scope`.execute(
    platform.db,
  )
  expect(left.rows).toEqual([{ scope: 'allTime:program' }, { scope: 'month:program' }])
})
