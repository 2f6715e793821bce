import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { parts } from './erasure.ts'
import { sections } from './sections.ts'

const platform = await openTestPlatform()
const exported = Object.values(sections).flatMap(({ tables }) => tables)
const erased = Object.values(parts).flatMap(({ tables }) => tables)

test('the export and the erasure of a customer cover the same tables, each once', () => {
  expect(exported.toSorted()).toEqual(erased.toSorted())
  expect(new Set(exported).size).toBe(exported.length)
})

/** Tables that name customers by id alone, or for a short time. */
const references = new Set([
  ...['commission_bindings', 'commission_queue'],
  // Rows of a rebuild, which ClickHouse deletes after a day.
  'click_events_staged',
])

test('a new table about customers or clicks is exported and erased', async () => {
  const columns = ['customer_id', 'click_id', 'click_facts', 'ip']
  const stored = await sql<{ name: string }>`SELECT DISTINCT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = ANY(${columns}::text[])`.execute(platform.db)
  const events = await query<{ name: string }>(
    platform.clickhouse,
    `SELECT DISTINCT c.table AS name FROM system.columns c JOIN system.tables t ON t.database = c.database AND t.name = c.table
      WHERE c.database = currentDatabase() AND t.engine LIKE '%MergeTree' AND c.name IN {columns:Array(String)}`,
    { columns },
  )
  const names = [...stored.rows, ...events].map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['customers', 'conversions', 'click_events', 'lead_events']))
  expect(names.filter((name) => !exported.includes(name) && !references.has(name))).toEqual([])
})
