type Table = { name: string; references: string[] }

/** Sorts tables so that each comes after the tables that its foreign keys reference. */
export function inOrder<T extends Table>(tables: T[]): T[] {
  const ordered: T[] = []
  let left = tables
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name))
    const ready = left.filter(({ references }) => !references.some((name) => waiting.has(name)))
    if (ready.length === 0) throw new Error(`These tables reference each other in a cycle: ${[...waiting].join(', ')}`)
    ordered.push(...ready)
    left = left.filter((table) => !ready.includes(table))
  }
  return ordered
}
