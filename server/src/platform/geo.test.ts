import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { afterAll, describe, expect, test } from 'vitest'
import { mmdb } from '../../test/mmdb.ts'
import { eventually } from '../../test/stack.ts'
import { ConfigError } from './config.ts'
import { findContinent, type GeoLocation, isContinent, isPublic, openGeo } from './geo.ts'
import { openLog } from './log.ts'

const folder = mkdtempSync(join(tmpdir(), 'geo-'))
afterAll(() => rmSync(folder, { recursive: true }))
const log = openLog('silent')

const oakland = {
  city: { names: { de: 'Oakland', en: 'Oakland' } },
  continent: { code: 'NA', names: { en: 'North America' } },
  country: { iso_code: 'US', names: { en: 'United States' } },
  subdivisions: [{ iso_code: 'CA', names: { en: 'California' } }],
}
/** A record as in the free file of DB-IP, whose regions have only names. */
const berlin = {
  city: { names: { en: 'Berlin' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'DE', names: { en: 'Germany' } },
  subdivisions: [{ names: { en: 'Land Berlin' } }],
}
const france = { country: { iso_code: 'FR' } }

function fileWith(name: string, content: Buffer): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

const inOakland = { country: 'US', region: 'US-CA', city: 'Oakland', continent: 'NA' }
const inBerlin = { country: 'DE', region: '', city: 'Berlin', continent: 'EU' }
const inFrance = { country: 'FR', region: '', city: '', continent: '' }

describe('lookup', () => {
  const records = { '198.51.100.0/24': oakland, '203.0.113.0/25': berlin, '2001:db8::/32': france, '192.0.2.0/24': {} }
  const geo = openGeo({ GEO_DATABASE: fileWith('lookup.mmdb', mmdb(records)) }, log)
  afterAll(() => geo[Symbol.dispose]())

  test.each<[string, GeoLocation | undefined]>([
    ['198.51.100.0', inOakland],
    ['198.51.100.255', inOakland],
    ['::ffff:198.51.100.7', inOakland],
    ['198.51.101.0', undefined],
    ['203.0.113.127', inBerlin],
    ['203.0.113.128', undefined],
    ['2001:db8:ffff::1', inFrance],
    ['2001:db8::1%eth0', inFrance],
    ['2001:db9::1', undefined],
    ['192.0.2.1', undefined],
    ['127.0.0.1', undefined],
    ['', undefined],
    ['unknown', undefined],
    ['198.51.100', undefined],
  ])('%s', (ip, location) => {
    expect(geo.lookup(ip)).toEqual(location)
    expect(geo.lookup(ip)).toEqual(location)
  })

  test('finds no IPv6 address in an IPv4-only file', () => {
    const file = fileWith('ipv4.mmdb', mmdb({ '198.51.100.0/24': oakland, '32.0.0.0/8': berlin }, { ipVersion: 4 }))
    using geo = openGeo({ GEO_DATABASE: file }, log)
    expect(geo.lookup('198.51.100.7')).toEqual(inOakland)
    expect(geo.lookup('2001:db8::1')).toBeUndefined()
  })
})

describe('without a file', () => {
  const geo = openGeo({ GEO_DATABASE: undefined }, log)
  const inCountry = (country: string, continent: string) => ({ country, region: '', city: '', continent })

  test.each<[string, GeoLocation | undefined]>([
    ['8.8.8.8', inCountry('US', 'NA')],
    ['::ffff:8.8.8.8', inCountry('US', 'NA')],
    ['193.99.144.80', inCountry('DE', 'EU')],
    ['2600::1', inCountry('US', 'NA')],
    ['2003::1', inCountry('DE', 'EU')],
    ['133.11.0.1', inCountry('JP', 'AS')],
    ['203.0.113.9', undefined],
    ['2001:db8::1', undefined],
    ['10.0.0.1', undefined],
    ['100.64.0.1', undefined],
    ['127.0.0.1', undefined],
    ['fe80::1%eth0', undefined],
    ['', undefined],
    ['8.8.8', undefined],
    ['unknown', undefined],
  ])('the built-in countries have %s', (ip, location) => {
    expect(geo.lookup(ip)).toEqual(location)
    expect(geo.lookup(ip)).toEqual(location)
  })

  test('a location has its source', () => {
    using file = openGeo({ GEO_DATABASE: fileWith('source.mmdb', mmdb({ '198.51.100.0/24': oakland })) }, log)
    expect([geo.source, file.source]).toEqual(['built-in', 'GEO_DATABASE'])
    // With GEO_DATABASE set, the built-in countries are not used.
    expect(file.lookup('8.8.8.8')).toBeUndefined()
  })
})

test.each<[string, Buffer | undefined, RegExp]>([
  ['missing', undefined, /GEO_DATABASE is ".*missing\.mmdb", which can't be used: ENOENT/],
  ['text', Buffer.from('no database'), /it is not a complete MMDB file/],
  ['empty', Buffer.alloc(0), /it is not a complete MMDB file/],
  ['compressed', gzipSync(mmdb({ '198.51.100.0/24': oakland })), /compressed; unpack it with gunzip/],
])('a file that is %s is refused at the start', (name, content, message) => {
  const file = join(folder, `${name}.mmdb`)
  if (content) writeFileSync(file, content)
  expect(() => openGeo({ GEO_DATABASE: file }, log)).toThrow(message)
  expect(() => openGeo({ GEO_DATABASE: file }, log)).toThrow(ConfigError)
})

test.each([
  [{ country: 'US', city: 'Oakland' }, undefined],
  [{ country: { iso_code: 7 } }, undefined],
  [{ country: { iso_code: 'US' }, city: { names: { en: ['Oakland'] } }, subdivisions: 'CA', continent: 'NA' }, 'US'],
])('a geo record of another layout gives no error: %j', (record, country) => {
  using geo = openGeo({ GEO_DATABASE: fileWith('layout.mmdb', mmdb({ '198.51.100.0/24': record })) }, log)
  const location = country && { country, region: '', city: '', continent: '' }
  expect(geo.lookup('198.51.100.7')).toEqual(location)
})

test('a damaged geo database gives no error', () => {
  const content = mmdb({ '198.51.100.0/24': oakland })
  const at = content.indexOf('city')
  content.fill(0xff, at - 2, at + 40)
  using geo = openGeo({ GEO_DATABASE: fileWith('damaged.mmdb', content) }, log)
  expect(geo.lookup('198.51.100.7')).toBeUndefined()
})

test('a new geo database is loaded without a restart; while it is invalid or missing, the old one is used', async () => {
  const file = fileWith('changing.mmdb', mmdb({ '198.51.100.0/24': oakland }))
  using geo = openGeo({ GEO_DATABASE: file }, log, 10)
  expect(geo.lookup('198.51.100.7')).toEqual(inOakland)

  renameSync(fileWith('next.mmdb', mmdb({ '198.51.100.0/24': berlin })), file)
  await eventually(async () => expect(geo.lookup('198.51.100.7')).toEqual(inBerlin))

  writeFileSync(file, mmdb({ '198.51.100.0/24': france }).subarray(0, 200))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(geo.lookup('198.51.100.7')).toEqual(inBerlin)

  rmSync(file)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(geo.lookup('198.51.100.7')).toEqual(inBerlin)

  writeFileSync(file, mmdb({ '198.51.100.0/24': france }))
  await eventually(async () => expect(geo.lookup('198.51.100.7')).toEqual(inFrance))
})

test.each([
  ['DE', 'EU'],
  ['US', 'NA'],
  ['XK', 'EU'],
  ['ZZ', undefined],
  ['', undefined],
  ['constructor', undefined],
])('the continent of %s is %s', (country, continent) => {
  expect(findContinent(country)).toBe(continent)
  expect(isContinent(continent ?? country)).toBe(continent !== undefined)
})

test('the reserved networks match those of ipaddr.js', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  const near = fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 223, 224, 239, 240, 255)
  const second = fc.oneof(byte, fc.constantFrom(0, 15, 16, 18, 19, 31, 32, 51, 52, 63, 64, 88, 127, 128, 168, 175, 254))
  const third = fc.oneof(byte, fc.constantFrom(0, 1, 2, 48, 99, 100, 113, 193, 196))
  fc.assert(
    fc.property(fc.oneof(byte, near), second, third, byte, (...bytes) => {
      const address = bytes.join('.')
      expect(isPublic(address), address).toBe(ipaddr.parse(address).range() === 'unicast')
    }),
    { numRuns: 20_000 },
  )
})
