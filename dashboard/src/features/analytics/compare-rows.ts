import { type Dimension, type Row, rowKey } from './dimensions.ts'
import type { Measure } from './measures.ts'

/** A row with its value and the one before: 0 where there was none, undefined where the list before was cut. */
export type ComparedRow = { row: Row; key: string; value: number; before: number | undefined }
export type RowOrder = 'highest' | 'fell' | 'rose'

type Lists = { rows: readonly Row[]; before: readonly Row[] | undefined; limit: number }

/** Puts the rows of two periods together. Rows that only one of both has are in it too. */
export function compareRows(dimension: Dimension, { rows, before, limit }: Lists, measure: Measure): ComparedRow[] {
  const now = byKey(dimension, rows)
  const past = byKey(dimension, before ?? [])
  const missing = (list: readonly Row[] | undefined) => (list && list.length < limit ? 0 : undefined)
  const present = [...now].map(([key, row]) => ({
    row,
    key,
    value: row[measure],
    before: past.get(key)?.[measure] ?? missing(before),
  }))
  // What is not in a cut list may still have had events, so that nothing can be said of its fall.
  const absent = missing(rows) === undefined ? [] : [...past].filter(([key]) => !now.has(key))
  const fallen = absent.map(([key, row]) => ({ row, key, value: 0, before: row[measure] }))
  return [...present, ...fallen].filter(({ value, before = 0 }) => value !== 0 || before !== 0)
}

/** Orders rows by their value, or by how much they fell or rose. Only those that did are left then. */
export function orderRows(rows: readonly ComparedRow[], order: RowOrder): ComparedRow[] {
  if (order === 'highest') return rows.filter(({ value }) => value !== 0).toSorted((a, b) => b.value - a.value)
  const sign = order === 'rose' ? 1 : -1
  const change = ({ value, before }: ComparedRow) => (before === undefined ? 0 : sign * (value - before))
  return rows.filter((row) => change(row) > 0).toSorted((a, b) => change(b) - change(a))
}

/** Change as a share of what was before; undefined from zero, where there is none. */
export function relativeChange(now: number, before: number): number | undefined {
  return before === 0 ? undefined : (now - before) / Math.abs(before)
}

function byKey(dimension: Dimension, rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [rowKey(dimension, row), row]))
}
