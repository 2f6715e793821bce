import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Removes or truncates the visitor's IP address as IP_STORAGE requires. Runs after the step that sets the country. */
export function putIp(draft: ClickDraft, { findIpStorage, isGeoCountryOnly }: StepContext): Outcome {
  const { raw, event } = draft
  const ipStorage = findIpStorage(event.workspaceId)
  const isSure = !isGeoCountryOnly || raw.country.trim().toUpperCase() === event.country
  if (ipStorage === 'full' || (ipStorage === 'eu-truncated' && isSure && isOutside(event.country))) {
    return { keep: draft }
  }
  return { keep: { raw, event: { ...event, ip: ipStorage === 'none' ? '' : truncated(raw.ip) } } }
}

// The European Union and its regions with their own country code, the other EEA countries, and the United Kingdom.
const european = new Set(
  [
    'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK',
    'AX GF GP MF MQ RE YT',
    'IS LI NO',
    'GB',
  ].flatMap((countries) => countries.split(' ')),
)

/** Whether a country is outside Europe; an unknown country may be in Europe. */
function isOutside(country: string): boolean {
  return country.length === 2 && !european.has(country)
}

/** Truncates an IP address to its network: the first 24 bits of IPv4, the first 48 of IPv6. */
function truncated(ip: string): string {
  const address = ip.replace(/%.*$/s, '')
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0`
  if (!isIPv6(address)) return ''
  const parsed = ipaddr.process(address)
  const groups = parsed.kind() === 'ipv4' ? 3 : 6
  return ipaddr.fromByteArray(parsed.toByteArray().map((byte, index) => (index < groups ? byte : 0))).toString()
}
