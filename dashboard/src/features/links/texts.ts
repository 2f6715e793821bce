/** The short address as people write it: go.acme.com/autumn. */
export function shortAddress({ domain, key }: { domain: string; key: string }): string {
  return key === '_root' ? domain : `${domain}/${key}`
}

/** What the QR designer needs to know of a link. */
export function designTarget(link: { id: string; domain: string; key: string; shortLink: string }) {
  return { url: link.shortLink, name: shortAddress(link), domain: link.domain, linkId: link.id }
}

const mostShown = 300

/** A destination without scheme, `www.` and a final slash, and not longer than a line can show. */
export function shortDestination(url: string): string {
  return url
    .slice(0, mostShown)
    .replace(/^https?:\/\/(www\.)?/i, '')
    .replace(/\/$/, '')
}
