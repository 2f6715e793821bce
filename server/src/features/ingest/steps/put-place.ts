import { continentOf, isContinent, type Place } from '../../../platform/geo.ts'
import { type ClickDraft, type Outcome, type StepContext, unknown } from './step.ts'

/** Puts country, region, city and continent: as a trusted proxy tells them, else as the geo database has the address. */
export function putPlace(draft: ClickDraft, { placeOf }: StepContext): Outcome {
  const { raw } = draft
  const told = readPlace(raw)
  const isComplete = told.country !== unknown && told.region !== unknown && told.city !== unknown
  const found = isComplete ? undefined : placeOf(raw.ip)
  return { keep: { raw, event: { ...draft.event, ...(found ? completed(told, readPlace(found)) : told) } } }
}

/** Where both name another country, the database has nothing to say about the region and city of the visitor. */
function completed(told: Place, found: Place): Place {
  if (told.country === unknown) return found.country === unknown ? told : found
  if (told.country !== found.country) return told
  return {
    ...told,
    region: told.region === unknown ? found.region : told.region,
    city: told.city === unknown ? found.city : told.city,
  }
}

function readPlace(hints: Place): Place {
  const code = hints.country.trim().toUpperCase()
  const continent = continentOf(code)
  const country = continent ? code : unknown
  return {
    country,
    region: continent ? readRegion(hints.region, country) : unknown,
    city: hints.city.trim().slice(0, longestCity) || unknown,
    continent: continent ?? readContinent(hints.continent),
  }
}

const longestCity = 100

/** `US-CA`, also from a bare `CA`; a region of another country is none. */
function readRegion(hint: string, country: string): string {
  const text = hint.trim().toUpperCase()
  const code = text.startsWith(`${country}-`) ? text.slice(3) : text
  return /^[A-Z0-9]{1,3}$/.test(code) ? `${country}-${code}` : unknown
}

function readContinent(hint: string): string {
  const code = hint.trim().toUpperCase()
  return isContinent(code) ? code : unknown
}
