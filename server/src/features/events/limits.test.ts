import { plans } from '@tributary/contract/operation'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { type QueryLimits, query } from '../../platform/clickhouse.ts'
import { limitsOf, withinLimits } from './limits.ts'

const { clickhouse } = await openTestPlatform()

test.each<[string, string, QueryLimits]>([
  ['time', 'SELECT sum(cityHash64(number)) FROM numbers(1000000000000)', { max_execution_time: 0.2 }],
  ['memory', 'SELECT length(groupArray(number)) FROM numbers(20000000)', { max_memory_usage: '20000000' }],
  ['rows', 'SELECT sum(number) FROM numbers(20000000000)', { max_execution_time: 0 }],
])('a question that takes too much %s is cut off, and the next one is answered', async (_, statement, less) => {
  const asked = withinLimits(
    { plan: 'pro' },
    (limits) => query(clickhouse, statement, {}, { ...limits, ...less }),
    'count',
  )
  await expect(asked).rejects.toMatchObject({ status: 422, message: expect.stringContaining('Narrow the period') })
  expect(await withinLimits({ plan: 'pro' }, (limits) => query(clickhouse, 'SELECT 1 AS one', {}, limits))).toEqual([
    { one: 1 },
  ])
})

test('another failure stays what it is', async () => {
  const asked = withinLimits({ plan: 'pro' }, (limits) => query(clickhouse, 'SELECT nonsense', {}, limits))
  await expect(asked).rejects.toMatchObject({ code: '47' })
})

test('a higher plan never allows less, and a list may stop anywhere in any number of rows', () => {
  for (const [index, plan] of plans.slice(1).entries()) {
    const [more, less] = [limitsOf(plan, 'count'), limitsOf(plans[index] as (typeof plans)[number], 'count')]
    expect(Number(more.max_execution_time)).toBeGreaterThanOrEqual(Number(less.max_execution_time))
    expect(Number(more.max_memory_usage)).toBeGreaterThanOrEqual(Number(less.max_memory_usage))
    expect(Number(more.max_rows_to_read) || Infinity).toBeGreaterThanOrEqual(Number(less.max_rows_to_read))
  }
  expect(limitsOf('pro', 'list')).not.toHaveProperty('max_rows_to_read')
})
