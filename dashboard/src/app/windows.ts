/** The numbers, from 1, of the pages that have the rows from the first to the last. */
export function pagesBetween(first: number, last: number, size: number): number[] {
  const from = Math.floor(Math.max(0, first) / size)
  const to = Math.max(from, Math.floor(last / size))
  return Array.from({ length: to - from + 1 }, (_, index) => from + index + 1)
}

/** How many rows a list has: its last page knows it best; else the total, but never less than what is loaded. */
export function countRows(
  loaded: ReadonlyMap<number, readonly unknown[] | undefined>,
  size: number,
  total: number | undefined,
): number {
  const ends = [...loaded].flatMap(([page, rows]) => (rows ? { end: (page - 1) * size + rows.length, rows } : []))
  const last = ends.find(({ end, rows }) => rows.length < size && (rows.length > 0 || end === 0))
  return last ? last.end : Math.max(total ?? 0, ...ends.map(({ end, rows }) => (rows.length > 0 ? end : 0)))
}
