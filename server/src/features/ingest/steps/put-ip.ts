import { truncateAddress } from '../../../platform/client-address.ts'
import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Removes or truncates the visitor's IP address as IP_STORAGE requires. Runs after the step that sets the country. */
export function putIp(draft: ClickDraft, { findIpStorage, isGeoCountryOnly }: StepContext): Outcome {
  const { raw, event } = draft
  const ipStorage = findIpStorage(event.workspaceId)
  const isSure = !isGeoCountryOnly || raw.country.trim().toUpperCase() === event.country
  if (ipStorage === 'full' || (ipStorage === 'eu-truncated' && isSure && isOutside(event.country))) {
    return { keep: draft }
  }
  event.ip = ipStorage === 'none' ? '' : truncateAddress(raw.ip)
  return { keep: draft }
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
