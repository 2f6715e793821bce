import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { mmdb } from '../../test/mmdb.ts'
import { eventually } from '../../test/stack.ts'
import { ConfigError } from './config.ts'
import { openGeo, type Place } from './geo.ts'
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
/** As in the free file of DB-IP, where regions have names only. */
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

  test.each<[string, Place | undefined]>([
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
  ])('%s', (ip, place) => {
    expect(geo.lookup(ip)).toEqual(place)
    expect(geo.lookup(ip)).toEqual(place)
  })

  test('knows no IPv6 in a file of IPv4 only', () => {
    const file = fileWith('ipv4.mmdb', mmdb({ '198.51.100.0/24': oakland, '32.0.0.0/8': berlin }, { ipVersion: 4 }))
    using geo = openGeo({ GEO_DATABASE: file }, log)
    expect(geo.lookup('198.51.100.7')).toEqual(inOakland)
    expect(geo.lookup('2001:db8::1')).toBeUndefined()
  })

  test('knows nothing without a file', () => {
    using geo = openGeo({ GEO_DATABASE: undefined }, log)
    expect(geo.lookup('198.51.100.7')).toBeUndefined()
  })
})

test.each<[string, Buffer | undefined, RegExp]>([
  ['missing', undefined, /GEO_DATABASE is ".*missing\.mmdb", which can't be used: ENOENT/],
  ['text', Buffer.from('no database'), /no MMDB file, or not all of it/],
  ['empty', Buffer.alloc(0), /no MMDB file/],
  ['compressed', gzipSync(mmdb({ '198.51.100.0/24': oakland })), /compressed; unpack it with gunzip/],
])('a file is refused at the start that is %s', (name, content, message) => {
  const file = join(folder, `${name}.mmdb`)
  if (content) writeFileSync(file, content)
  expect(() => openGeo({ GEO_DATABASE: file }, log)).toThrow(message)
  expect(() => openGeo({ GEO_DATABASE: file }, log)).toThrow(ConfigError)
})

test.each([
  [{ country: 'US', city: 'Oakland' }, undefined],
  [{ country: { iso_code: 7 } }, undefined],
  [{ country: { iso_code: 'US' }, city: { names: { en: ['Oakland'] } }, subdivisions: 'CA', continent: 'NA' }, 'US'],
])('a record of another layout does no harm: %j', (record, country) => {
  using geo = openGeo({ GEO_DATABASE: fileWith('layout.mmdb', mmdb({ '198.51.100.0/24': record })) }, log)
  const place = country && { country, region: '', city: '', continent: '' }
  expect(geo.lookup('198.51.100.7')).toEqual(place)
})

test('a damaged file does no harm', () => {
  const content = mmdb({ '198.51.100.0/24': oakland })
  const at = content.indexOf('city')
  content.fill(0xff, at - 2, at + 40)
  using geo = openGeo({ GEO_DATABASE: fileWith('damaged.mmdb', content) }, log)
  expect(geo.lookup('198.51.100.7')).toBeUndefined()
})

test('a new file is taken without a restart, and the old one stays while the new one is bad or gone', async () => {
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
