import { expect, test } from 'vitest'
import { takePortion } from './rows.ts'
import type { PendingRow } from './store.ts'

function buildRow(number: number, created_at: Date, bytes = 600n): PendingRow {
  const named = { number: BigInt(number), id: `sale_${number}`, workspace_id: 'ws_rows', kind: 'sale' as const }
  return { ...named, click_id: null, quantity: 1, created_at, batch: null, attempts: 0, bytes }
}

test('a portion has at most fifty months, because ClickHouse refuses an insert into more than a hundred', () => {
  const rows = Array.from({ length: 120 }, (_, index) => buildRow(index, new Date(Date.UTC(2010, index, 1))))
  const portions: number[] = []
  for (let rest = rows; rest.length > 0; ) {
    const portion = takePortion(rest, 1_000_000)
    portions.push(portion.rows.length)
    rest = portion.rest
  }
  expect(portions).toEqual([50, 50, 20])
})

test('a portion ends before its bytes exceed the limit, but has one row', () => {
  const at = new Date()
  const rows = [buildRow(1, at, 900n), buildRow(2, at, 200n), buildRow(3, at, 200n)]
  expect(takePortion(rows, 1_100).rows).toHaveLength(2)
  expect(takePortion(rows, 100).rows).toHaveLength(1)
})
