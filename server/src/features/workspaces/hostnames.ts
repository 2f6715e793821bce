const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const pattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`)

/** As stored: lower case, internationalised names as ASCII, without `www.`; null for an invalid hostname. */
export function normalHostname(text: string): string | null {
  const star = text.trim().startsWith('*.') ? '*.' : ''
  const address = URL.parse(`http://${text.trim().slice(star.length)}`)
  if (address?.port !== '') return null
  if (`${address.pathname}${address.search}${address.hash}` !== '/') return null
  const name = star + address.hostname.replace(/^www\./, '')
  return name.length <= 253 && pattern.test(name) ? name : null
}

/** An empty list allows every page; `*.example.com` matches its subdomains, not itself. */
export function isAllowedPage(allowed: string[], page: string): boolean {
  if (allowed.length === 0) return true
  const host = page.toLowerCase().replace(/^www\./, '')
  if (host === '') return false
  return allowed.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name))
}
