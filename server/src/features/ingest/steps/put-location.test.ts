import { describe, expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import type { GeoLocation } from '../../../platform/geo.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { putLocation } from './put-location.ts'
import { startDraft } from './step.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const pairs = letters.flatMap((first) => letters.map((second) => first + second))

type Hints = [country: string, region: string, city: string, continent: string]

test.each<[Hints, Hints]>([
  [
    ['', '', '', ''],
    ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
  ],
  [
    ['US', 'CA', 'San Francisco', 'NA'],
    ['US', 'US-CA', 'San Francisco', 'NA'],
  ],
  [
    ['us', 'us-ca', ' Paris ', ''],
    ['US', 'US-CA', 'Paris', 'NA'],
  ],
  [
    ['DE', '', '', ''],
    ['DE', 'Unknown', 'Unknown', 'EU'],
  ],
  [
    ['GB', 'ENG', 'London', 'EU'],
    ['GB', 'GB-ENG', 'London', 'EU'],
  ],
  [
    ['JP', '13', 'Tokyo', 'AS'],
    ['JP', 'JP-13', 'Tokyo', 'AS'],
  ],
  [
    ['DE', 'DE', 'Köln', ''],
    ['DE', 'DE-DE', 'Köln', 'EU'],
  ],
  [
    ['US', 'CA-QC', '', ''],
    ['US', 'Unknown', 'Unknown', 'NA'],
  ],
  [
    ['US', 'California', '', ''],
    ['US', 'Unknown', 'Unknown', 'NA'],
  ],
  [
    ['US', 'US-', '', ''],
    ['US', 'Unknown', 'Unknown', 'NA'],
  ],
  [
    ['US', "C'A", '', ''],
    ['US', 'Unknown', 'Unknown', 'NA'],
  ],
  [
    ['US', '', '', 'EU'],
    ['US', 'Unknown', 'Unknown', 'NA'],
  ],
  [
    ['XX', 'CA', 'Nowhere', ''],
    ['Unknown', 'Unknown', 'Nowhere', 'Unknown'],
  ],
  [
    ['T1', '', '', 'eu'],
    ['Unknown', 'Unknown', 'Unknown', 'EU'],
  ],
  [
    ['', 'US-CA', '', ''],
    ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
  ],
  [
    ['', '', '', 'XX'],
    ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
  ],
  [
    ['', '', '', 'toString'],
    ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
  ],
  [
    ['USA', '', '', ''],
    ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
  ],
  [
    ['US', '', 'a'.repeat(500), ''],
    ['US', 'Unknown', 'a'.repeat(100), 'NA'],
  ],
])('%j', (hints, expected) => {
  expect(locate(...hints)).toEqual(expected)
})

describe('countries', () => {
  const known = pairs.filter((pair) => locate(pair, '', '', '')[0] !== 'Unknown')
  const findContinent = (country: string) => locate(country, '', '', '')[3]

  test('are the 249 of ISO 3166-1 and Kosovo, each with one continent', () => {
    expect(known).toHaveLength(250)
    const counts = Object.groupBy(known, findContinent)
    expect(Object.fromEntries(Object.entries(counts).map(([name, list]) => [name, list?.length]))).toEqual({
      AF: 58,
      AN: 5,
      AS: 51,
      EU: 53,
      NA: 41,
      OC: 28,
      SA: 14,
    })
  })

  test('are the country codes that Unicode CLDR names, except codes that are not countries', () => {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    const named = pairs.filter((pair) => names.of(pair) && new Intl.Locale(`und-${pair}`).region === pair)
    const noCountries = ['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'ZZ']
    expect(named.filter((pair) => !noCountries.includes(pair))).toEqual(known)
  })

  test.each([
    ['EG', 'AF'],
    ['AQ', 'AN'],
    ['TR', 'AS'],
    ['CY', 'EU'],
    ['RU', 'EU'],
    ['GL', 'NA'],
    ['PA', 'NA'],
    ['TL', 'OC'],
    ['FK', 'SA'],
  ])('the country %s is on the continent %s', (country, continent) => {
    expect(findContinent(country)).toBe(continent)
  })
})

describe('with a geo database', () => {
  const locations: Record<string, GeoLocation> = {
    '198.51.100.7': { country: 'US', region: 'US-CA', city: 'Oakland', continent: 'NA' },
    '203.0.113.7': { country: 'DE', region: '', city: '', continent: '' },
    '192.0.2.7': { country: 'ZZ', region: 'ZZ-1', city: '', continent: 'EU' },
  }
  const nowhere: Hints = ['', '', '', '']

  test.each<[string, string, Hints, Hints]>([
    ['the proxy sends nothing', '198.51.100.7', nowhere, ['US', 'US-CA', 'Oakland', 'NA']],
    ['only the country is known', '203.0.113.7', nowhere, ['DE', 'Unknown', 'Unknown', 'EU']],
    ['the IP address is not in the database', '192.0.2.1', nowhere, ['Unknown', 'Unknown', 'Unknown', 'Unknown']],
    ["the database's country code is invalid", '192.0.2.7', nowhere, ['Unknown', 'Unknown', 'Unknown', 'Unknown']],
    ['the proxy sends all three', '198.51.100.7', ['FR', 'IDF', 'Paris', 'EU'], ['FR', 'FR-IDF', 'Paris', 'EU']],
    ['the proxy sends the same country', '198.51.100.7', ['us', '', '', ''], ['US', 'US-CA', 'Oakland', 'NA']],
    ['the proxy sends country and city', '198.51.100.7', ['US', '', 'Berkeley', ''], ['US', 'US-CA', 'Berkeley', 'NA']],
    ['the proxy sends country and region', '198.51.100.7', ['US', 'NV', '', ''], ['US', 'US-NV', 'Oakland', 'NA']],
    ['the proxy sends another country', '198.51.100.7', ['FR', '', '', ''], ['FR', 'Unknown', 'Unknown', 'EU']],
    ['the proxy sends an unknown country', '198.51.100.7', ['XX', '', '', ''], ['US', 'US-CA', 'Oakland', 'NA']],
    ['no address', '', nowhere, ['Unknown', 'Unknown', 'Unknown', 'Unknown']],
  ])('%s: %s %j', (_name, ip, [country, region, city, continent], expected) => {
    const draft = startDraft({ ip, country, region, city, continent } as RawClick)
    const outcome = putLocation(draft, stepContext({ locate: (ip) => locations[ip] }))
    const [expectedCountry, expectedRegion, expectedCity, expectedContinent] = expected
    expect(outcome).toMatchObject({
      keep: {
        event: { country: expectedCountry, region: expectedRegion, city: expectedCity, continent: expectedContinent },
      },
    })
  })
})

function locate(...[country, region, city, continent]: Hints): Hints {
  const outcome = putLocation(startDraft({ country, region, city, continent } as RawClick), stepContext())
  if (!('keep' in outcome)) throw new Error('a click whose location lookup fails is kept')
  const { event } = outcome.keep
  return [event.country, event.region, event.city, event.continent]
}
