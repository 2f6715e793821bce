import { randomUUID } from 'node:crypto'
import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { type CityResponse, Reader } from 'maxmind'
import { type Config, ConfigError } from './config.ts'
import type { Log } from './log.ts'

/** Codes of ISO 3166, the region as `US-CA`; what is not known is empty. */
export type Place = { country: string; region: string; city: string; continent: string }
export type Geo = Disposable & { lookup(ip: string): Place | undefined }

type Database = Reader<CityResponse>

const downloadWithinMs = 600_000

/** Finds places in the file GEO_DATABASE, and in its successor once it has changed. Without a file it knows none. */
export function openGeo(config: Pick<Config, 'GEO_DATABASE'>, log: Log, checkEveryMs = 30_000): Geo {
  const file = config.GEO_DATABASE
  if (!file) return { lookup: () => undefined, [Symbol.dispose]() {} }
  const opened = openFirst(file)
  const known = new LRUCache<string, { place: Place | undefined }>({ max: 20_000 })
  let { database, version } = opened
  let isChecking = false
  let isDamaged = false

  async function check(file: string): Promise<void> {
    if (isChecking) return
    isChecking = true
    try {
      const found = versionOf(await stat(file))
      if (found === version) return
      // Also when it can't be used, so that a bad file is told of once.
      version = found
      database = parse(await readFile(file))
      known.clear()
      isDamaged = false
      log.info({ file }, 'The geo database has changed and was loaded')
    } catch (error) {
      if (version !== 'gone') log.warn({ file, error }, 'The new geo database is not usable; the old one stays')
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') version = 'gone'
    } finally {
      isChecking = false
    }
  }

  /** A click must not be lost, nor hold up others, because of a damaged file. */
  function tryLookup(ip: string): Place | undefined {
    try {
      return placeIn(database, ip)
    } catch (error) {
      if (!isDamaged) log.error({ file, error }, 'The geo database is damaged: some places stay unknown')
      isDamaged = true
      return undefined
    }
  }

  const checking = setInterval(() => void check(file), checkEveryMs).unref()
  return {
    lookup(ip) {
      let found = known.get(ip)
      if (!found) {
        found = { place: tryLookup(ip) }
        known.set(ip, found)
      }
      return found.place
    },
    [Symbol.dispose]: () => clearInterval(checking),
  }
}

/** Throws when it is not a database of cities or countries. */
function parse(content: Buffer): Database {
  if (content[0] === 0x1f && content[1] === 0x8b) throw new Error('it is compressed; unpack it with gunzip')
  try {
    // Records share their parts, such as the names of countries.
    return new Reader<CityResponse>(content, { cache: new LRUCache<string | number, object>({ max: 20_000 }) })
  } catch (error) {
    throw new Error(`it is no MMDB file, or not all of it (${(error as Error).message})`)
  }
}

/** Puts a database from the network in place of the file, when it is one. `{month}` is this month or the one before. */
export async function downloadGeo(address: string, file: string, now: Date): Promise<string> {
  const temporary = `${file}.${randomUUID()}.part`
  try {
    const { url, response } = await newest(address, now)
    const unpack = url.endsWith('.gz') ? [createGunzip()] : []
    await pipeline([Readable.fromWeb(response.body as ReadableStream), ...unpack, createWriteStream(temporary)])
    parse(await readFile(temporary))
    await rename(temporary, file)
    return url
  } catch (error) {
    await rm(temporary, { force: true })
    const cause = (error as Error).cause
    const reason = cause instanceof Error ? cause.message || (error as Error).message : (error as Error).message
    throw new ConfigError(`${file} was not updated: ${reason}.`)
  }
}

async function newest(address: string, now: Date): Promise<{ url: string; response: Response }> {
  const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1))
  const urls = [now, before].map((date) => address.replaceAll('{month}', date.toISOString().slice(0, 7)))
  const tried: string[] = []
  for (const url of new Set(urls)) {
    const response = await fetch(url, { signal: AbortSignal.timeout(downloadWithinMs) })
    if (response.ok) return { url, response }
    await response.body?.cancel()
    tried.push(`${url} answers ${response.status}`)
  }
  throw new Error(tried.join(', '))
}

function openFirst(file: string): { database: Database; version: string } {
  try {
    const version = versionOf(statSync(file))
    return { database: parse(readFileSync(file)), version }
  } catch (error) {
    throw new ConfigError(
      `GEO_DATABASE is ${JSON.stringify(file)}, which can't be used: ${(error as Error).message}. Name an MMDB file with cities or countries, or leave it empty.`,
    )
  }
}

function versionOf({ mtimeMs, size, ino }: { mtimeMs: number; size: number; ino: number }): string {
  return `${mtimeMs} ${size} ${ino}`
}

function placeIn(database: Database, ip: string): Place | undefined {
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/s, '')
  const version = isIP(address)
  if (version === 0 || version > database.metadata.ipVersion) return undefined
  const found = database.get(address)
  // In some files a record of an unused network is there, but has nothing in it.
  const country = textOf(found?.country?.iso_code)
  if (!country) return undefined
  const region = textOf(found?.subdivisions?.[0]?.iso_code)
  return {
    country,
    region: region ? `${country}-${region}` : '',
    city: textOf(found?.city?.names?.en),
    continent: textOf(found?.continent?.code),
  }
}

/** Files differ; where one has something else, nothing is known. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
