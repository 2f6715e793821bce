/** Where a page begins: after which row, and the cursor that says so. The first page has none. */
export type PageStart = { after: string; cursor: string } | undefined

/**
 * The pages of a list that are known. Each loaded page names the next one. A page that ends at another row than before
 * makes the pages behind it unknown. A cursor may be written anew for the same row, so rows are compared.
 */
export function followPage(chain: readonly PageStart[], page: number, next: PageStart): readonly PageStart[] {
  const known = chain[page + 1]
  if (next === undefined) return known === undefined ? chain : chain.slice(0, page + 1)
  return known?.after === next.after ? chain : [...chain.slice(0, page + 1), next]
}

/** How many rows the list shows: all full pages, and of the last one those that are loaded, or some that will be. */
export function countListed(pages: number, size: number, rowsOfLast: number | undefined, loadingRows: number): number {
  return (pages - 1) * size + (rowsOfLast ?? loadingRows)
}
