import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { type QueryLimits, query } from '../../platform/clickhouse.ts'
import { queryLimits, runLimited } from './limits.ts'

const { clickhouse, config } = await openTestPlatform()
const generous = { QUERY_MAX_SECONDS: 25, QUERY_MAX_MEGABYTES: 0, QUERY_MAX_ROWS: 0 }

test("by default only a query's duration is limited here, and ClickHouse limits its memory", () => {
  expect(queryLimits(config, 'list')).toEqual({ max_execution_time: 25 })
  expect(queryLimits(config, 'count')).toEqual({ max_execution_time: 25 })
})

test('QUERY_MAX_MEGABYTES limits the memory of queries, and QUERY_MAX_ROWS the rows read by counts', () => {
  const settings = { QUERY_MAX_SECONDS: 3, QUERY_MAX_MEGABYTES: 100, QUERY_MAX_ROWS: 5_000 }
  const list = { max_execution_time: 3, max_memory_usage: '104857600' }
  expect(queryLimits(settings, 'list')).toEqual(list)
  expect(queryLimits(settings, 'count')).toEqual({ ...list, max_rows_to_read: '5000' })
})

test.each<[string, Partial<typeof generous>, string, QueryLimits, string]>([
  [
    'time',
    { QUERY_MAX_SECONDS: 1 },
    'SELECT sum(cityHash64(number)) FROM numbers(1000000000000)',
    {},
    'takes longer than the 1 s of QUERY_MAX_SECONDS',
  ],
  [
    'memory',
    { QUERY_MAX_MEGABYTES: 20 },
    'SELECT length(groupArray(number)) FROM numbers(20000000)',
    {},
    'needs more memory than the 20 MB of QUERY_MAX_MEGABYTES',
  ],
  [
    'memory of ClickHouse itself',
    {},
    'SELECT length(groupArray(number)) FROM numbers(20000000)',
    { max_memory_usage: '20000000' },
    'needs more memory than ClickHouse allows',
  ],
  [
    'rows',
    { QUERY_MAX_ROWS: 1_000_000 },
    'SELECT sum(number) FROM numbers(20000000000)',
    {},
    'reads more than the 1000000 events of QUERY_MAX_ROWS',
  ],
])('a query over the limit of %s is cut off, and the next one succeeds', async (_, less, statement, own, excess) => {
  const ctx = { config: { ...generous, ...less } }
  const ask = (query: { start?: string }) => runLimited(ctx, (limits) => run({ ...limits, ...own }), query, 'count')
  const run = (limits: QueryLimits) => query(clickhouse, statement, {}, limits)
  const message = (parameter: string) =>
    `This query ${excess}. Narrow ${parameter} in the query, or filter by \`linkId\`.`
  await expect(ask({})).rejects.toMatchObject({ status: 422, message: message('`interval`') })
  await expect(ask({ start: 'x' })).rejects.toMatchObject({ status: 422, message: message('`start` and `end`') })
  expect(await runLimited(ctx, (limits) => query(clickhouse, 'SELECT 1 AS one', {}, limits))).toEqual([{ one: 1 }])
})

test('errors other than exceeded query limits pass unchanged', async () => {
  const asked = runLimited({ config }, (limits) => query(clickhouse, 'SELECT nonsense', {}, limits))
  await expect(asked).rejects.toMatchObject({ code: '47' })
})

test('the shipped ClickHouse settings do not allow queries to raise their memory limit', () => {
  const users = readFileSync(new URL('../../../../deploy/clickhouse/users.xml', import.meta.url), 'utf8')
  const shipped = /<profiles>.*?<max_memory_usage>(\d+)</s.exec(users)?.[1]
  expect(Number(shipped)).toBeGreaterThan(0)
  expect(/<constraints>.*?<max_memory_usage>\s*<max>(\d+)</s.exec(users)?.[1]).toBe(shipped)
})
