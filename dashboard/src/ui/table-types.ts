import type { ReactNode } from 'react'

export type Column<Row> = {
  id: string
  name: ReactNode
  cell(row: Row): ReactNode
  /** Width in pixels; columns without one share the rest. */
  width?: number
  isNumber?: boolean
  /** Whether only wide screens show it. */
  isWide?: boolean
  /** The name that `sort` has when this column sorts. */
  sort?: string
}
export type Sort = { by: string; isAscending: boolean }
export type Selection = {
  has(id: string): boolean
  toggle(id: string, isRange: boolean): void
  toggleAll(): void
  state: boolean | 'indeterminate'
}

export type TableProps<Row> = {
  label: string
  columns: readonly Column<Row>[]
  /** How many rows there are, also those that are not loaded. */
  count: number
  /** The row at a position; undefined while it is not loaded. */
  row(index: number): Row | undefined
  rowId(row: Row): string
  rowLabel(row: Row): string
  rowHeight: number
  /** What a small screen shows instead of a row. */
  card(row: Row): ReactNode
  cardHeight: number
  sort?: Sort
  onSort?(by: string): void
  selection?: Selection
  onOpen(row: Row): void
  /** Called with the positions of the first and the last row in the page. */
  onRange?(first: number, last: number): void
  isDimmed?: boolean
}

/** A row in view, which the list has or still loads. */
export type ShownRow<Row> = { key: string; index: number; row: Row | undefined }
