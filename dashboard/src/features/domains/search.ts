/** What the address of the list says. Defaults are absent. */
export type DomainsSearch = { search?: string; archived?: true }

/** Reads the address; what it doesn't know is dropped. */
export function parseDomainsSearch({ search, archived }: Record<string, unknown>): DomainsSearch {
  const isText = typeof search === 'string' || typeof search === 'number'
  return {
    ...(isText && search !== '' && { search: String(search).slice(0, 190) }),
    ...((archived === true || archived === 'true') && { archived: true as const }),
  }
}
