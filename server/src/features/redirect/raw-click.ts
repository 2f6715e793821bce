import type { Visitor } from '../../platform/client-address.ts'
import type { RedirectLink } from '../links/service.ts'
import type { RawClick } from './messages.ts'

/** Bytes of a logged click that its visitor controls; the rest is the owner's destination and of fixed size. */
export const clickLimits = { query: 2_048, address: 2_048, referer: 2_048, userAgent: 1_000, location: 256, ip: 64 }

export type Seen = Pick<RawClick, 'trigger' | 'bot'> & { url: string }

/** Builds the click for the log. A visitor can't make it larger than the limits. */
export function buildRawClick(id: string, link: RedirectLink, seen: Seen, visitor: Visitor, at: number): RawClick {
  const { location } = visitor
  return {
    id,
    at,
    workspaceId: link.workspaceId,
    linkNumber: link.number,
    url: seen.url,
    trigger: seen.trigger,
    ip: clip(visitor.ip, clickLimits.ip),
    userAgent: clip(visitor.userAgent, clickLimits.userAgent),
    referer: clip(visitor.referer, clickLimits.referer),
    bot: seen.bot,
    country: clip(location.country, clickLimits.location),
    region: clip(location.region, clickLimits.location),
    city: clip(location.city, clickLimits.location),
    continent: clip(location.continent, clickLimits.location),
  }
}

/** The longest prefix that has at most this many UTF-8 bytes and ends between two characters. */
export function clip(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  return text.slice(0, encoder.encodeInto(text, scratch.subarray(0, bytes)).read)
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(4_096)

/** Whole parameters in order; one that no longer fits is left out, so that none is ever cut. */
export function fitParameters(pairs: string[]): string[] {
  let free = clickLimits.query
  return pairs.filter((pair) => {
    const size = Buffer.byteLength(pair) + 1
    if (size > free) return false
    free -= size
    return true
  })
}

/** The same for a URL that the visitor controls entirely, such as the page that a script reports. */
export function fitAddress(url: string): string {
  if (url.length * 3 <= clickLimits.query) return url
  const withoutFragment = url.replace(/#.*$/s, '')
  const mark = withoutFragment.indexOf('?')
  const address = mark === -1 ? withoutFragment : withoutFragment.slice(0, mark)
  const pairs = mark === -1 ? [] : fitParameters(withoutFragment.slice(mark + 1).split('&'))
  return `${clipEncoded(address)}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`
}

/** Ends before a percent escape rather than inside it. */
function clipEncoded(address: string): string {
  const clipped = clip(address, clickLimits.address)
  return clipped.length === address.length ? address : clipped.replace(/%[0-9a-f]?$/i, '')
}
