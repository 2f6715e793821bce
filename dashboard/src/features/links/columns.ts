/** The columns that can be chosen, in their order; the link itself is always shown. */
export const allColumns = [
  'tags',
  'folder',
  'comments',
  'series',
  'clicks',
  'leads',
  'sales',
  'revenue',
  'lastClicked',
  'created',
  'creator',
  'expires',
] as const
export type ColumnName = (typeof allColumns)[number]

const defaultColumns: readonly ColumnName[] = ['tags', 'series', 'clicks', 'leads', 'sales', 'revenue', 'created']

/** The chosen columns in their fixed order: those of the address, else those of the person, else the default. */
export function chooseColumns(address: string | undefined, preferred: readonly string[] | null | undefined) {
  const names = address?.split(',') ?? preferred ?? defaultColumns
  return { names: allColumns.filter((name) => names.includes(name)), isDefault: names === defaultColumns }
}

/** The columns after one was added or removed. */
export function toggleColumn(names: readonly ColumnName[], name: ColumnName): ColumnName[] {
  return allColumns.filter((one) => (one === name ? !names.includes(one) : names.includes(one)))
}
