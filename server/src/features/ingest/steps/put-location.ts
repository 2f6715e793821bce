import { findContinent, type GeoLocation, isContinent } from '../../../platform/geo.ts'
import { memoByObject } from '../../../platform/memo.ts'
import { type ClickDraft, type Outcome, type StepContext, unknown } from './step.ts'

/** Sets a click's country, region, city and continent: from a trusted proxy's headers, else from the geo database. */
export function putLocation(draft: ClickDraft, { locate }: StepContext): Outcome {
  const { raw } = draft
  const hints = raw.country || raw.region || raw.city || raw.continent ? readLocation(raw) : nowhere
  const isComplete = hints.country !== unknown && hints.region !== unknown && hints.city !== unknown
  const found = isComplete ? undefined : locate(raw.ip)
  const { event } = draft
  const { country, region, city, continent } = found ? completed(hints, readFound(found)) : hints
  event.country = country
  event.region = region
  event.city = city
  event.continent = continent
  return { keep: draft }
}

/** Fills gaps in the proxy's location from the geo database, unless the two disagree about the country. */
function completed(hints: GeoLocation, found: GeoLocation): GeoLocation {
  if (hints.country === unknown) return found.country === unknown ? hints : found
  if (hints.country !== found.country) return hints
  return {
    ...hints,
    region: hints.region === unknown ? found.region : hints.region,
    city: hints.city === unknown ? found.city : hints.city,
  }
}

const nowhere: GeoLocation = { country: unknown, region: unknown, city: unknown, continent: unknown }
// The geo database returns the same object for many addresses.
const readFound = memoByObject((found: GeoLocation) => readLocation(found))

function readLocation(hints: GeoLocation): GeoLocation {
  const code = hints.country.trim().toUpperCase()
  const continent = findContinent(code)
  const country = continent ? code : unknown
  return {
    country,
    region: continent ? readRegion(hints.region, country) : unknown,
    city: hints.city.trim().slice(0, longestCity) || unknown,
    continent: continent ?? readContinent(hints.continent),
  }
}

const longestCity = 100

/** Returns a region code with its country, such as `US-CA`, also for a bare `CA`; ignores another country's region. */
function readRegion(hint: string, country: string): string {
  const text = hint.trim().toUpperCase()
  const code = text.startsWith(`${country}-`) ? text.slice(3) : text
  return /^[A-Z0-9]{1,3}$/.test(code) ? `${country}-${code}` : unknown
}

function readContinent(hint: string): string {
  const code = hint.trim().toUpperCase()
  return isContinent(code) ? code : unknown
}
