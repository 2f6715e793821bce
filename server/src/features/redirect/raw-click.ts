import type { Visitor } from '../../platform/client-address.ts'
import type { RedirectLink } from '../links/service.ts'
import type { RawClick } from './messages.ts'

/** Size limits, in bytes, of the logged fields that a visitor controls. */
export const clickLimits = { query: 2_048, address: 2_048, referer: 2_048, userAgent: 1_000, location: 256, ip: 64 }

export type Seen = Pick<RawClick, 'trigger' | 'bot'> & { url: string }

/** Builds the click for the event log; fields that the visitor controls are truncated to their limits. */
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

/** Truncates text to this many UTF-8 bytes, between two characters. */
export function clip(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  return text.slice(0, encoder.encodeInto(text, scratch.subarray(0, bytes)).read)
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(4_096)

/** The query parameters that fit the size limit, in order; a parameter that does not fit is omitted, never cut. */
export function fitParameters(pairs: string[]): string[] {
  let free = clickLimits.query
  return pairs.filter((pair) => {
    const size = Buffer.byteLength(pair) + 1
    if (size > free) return false
    free -= size
    return true
  })
}

/** Limits the size of a URL that the visitor controls entirely, such as the page that a script reports. */
export function fitAddress(url: string): string {
  if (url.length * 3 <= clickLimits.query) return url
  const withoutFragment = url.replace(/#.*$/s, '')
  const mark = withoutFragment.indexOf('?')
  const address = mark === -1 ? withoutFragment : withoutFragment.slice(0, mark)
  const pairs = mark === -1 ? [] : fitParameters(withoutFragment.slice(mark + 1).split('&'))
  return `${clipEncoded(address)}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`
}

/** Truncates a URL without its query; never inside a percent escape. */
function clipEncoded(address: string): string {
  const clipped = clip(address, clickLimits.address)
  return clipped.length === address.length ? address : clipped.replace(/%[0-9a-f]?$/i, '')
}
