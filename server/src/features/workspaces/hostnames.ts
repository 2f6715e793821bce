const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const pattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`)

/** Normalizes an allowed hostname: lower case, Punycode, without `www.`; null when it is invalid. */
export function normalHostname(text: string): string | null {
  const star = text.trim().startsWith('*.') ? '*.' : ''
  const address = URL.parse(`http://${text.trim().slice(star.length)}`)
  if (address?.port !== '') return null
  if (`${address.pathname}${address.search}${address.hash}` !== '/') return null
  const name = star + address.hostname.replace(/^www\./, '')
  return name.length <= 253 && pattern.test(name) ? name : null
}

/** Whether a page's host is allowed. An empty list allows all; `*.example.com` matches only subdomains. */
export function isAllowedPage(allowed: string[], page: string): boolean {
  if (allowed.length === 0) return true
  const host = page.toLowerCase().replace(/^www\./, '')
  if (host === '') return false
  return allowed.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name))
}
