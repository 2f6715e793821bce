import type { Place } from '../../../platform/geo.ts'
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
  const continent = continentOfCountry.get(code)
  const country = continent ? code : unknown
  return {
    country,
    region: continent ? readRegion(hints.region, country) : unknown,
    city: hints.city.trim().slice(0, longestCity) || unknown,
    continent: continent ?? readContinent(hints.continent),
  }
}

const longestCity = 100

// ISO 3166-1 and XK (Kosovo, which every geo source uses), by the continent that GeoNames gives them.
const countriesOfContinent = {
  AF: 'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW',
  AN: 'AQ BV GS HM TF',
  AS: 'AE AF AM AZ BD BH BN BT CC CN GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TM TR TW UZ VN YE',
  EU: 'AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  NA: 'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI',
  OC: 'AS AU CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS',
  SA: 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
}

const continentOfCountry = new Map(
  Object.entries(countriesOfContinent).flatMap(([continent, countries]) =>
    countries.split(' ').map((country) => [country, continent] as const),
  ),
)

/** `US-CA`, also from a bare `CA`; a region of another country is none. */
function readRegion(hint: string, country: string): string {
  const text = hint.trim().toUpperCase()
  const code = text.startsWith(`${country}-`) ? text.slice(3) : text
  return /^[A-Z0-9]{1,3}$/.test(code) ? `${country}-${code}` : unknown
}

function readContinent(hint: string): string {
  const code = hint.trim().toUpperCase()
  return Object.hasOwn(countriesOfContinent, code) ? code : unknown
}
