/** The slug that the server would derive from a name; empty while too little of the name can be used. */
export function suggestSlug(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 48)
}

export function isSlug(slug: string): boolean {
  return /^[a-z0-9][a-z0-9-]{2,47}$/.test(slug)
}
