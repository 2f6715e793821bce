import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { openAddressReader } from './client-address.ts'
import { parseRanges, readRanges } from './ranges.ts'

const folder = mkdtempSync(join(tmpdir(), 'ranges-'))
afterAll(() => rmSync(folder, { recursive: true }))

const text = `# Data centres
192.0.2.0/25
192.0.2.64/26   # lies in the one above

198.51.100.77/24\r
203.0.113.9
2001:db8::/32
::ffff:10.0.0.0/104
255.255.255.255/32
`

describe('an address in the list', () => {
  const ranges = parseRanges(text)

  test.each<[string, boolean]>([
    ['192.0.1.255', false],
    ['192.0.2.0', true],
    ['192.0.2.127', true],
    ['192.0.2.128', false],
    ['198.51.99.255', false],
    ['198.51.100.0', true],
    ['198.51.100.255', true],
    ['198.51.101.0', false],
    ['203.0.113.8', false],
    ['203.0.113.9', true],
    ['203.0.113.10', false],
    ['::ffff:203.0.113.9', true],
    ['10.255.0.1', true],
    ['11.0.0.0', false],
    ['255.255.255.255', true],
    ['0.0.0.0', false],
    ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', false],
    ['2001:db8::', true],
    ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', true],
    ['2001:db9::', false],
    ['::', false],
    ['fe80::1%eth0', false],
    ['', false],
    ['unknown', false],
    ['203.0.113.9 ', false],
  ])('%s: %s', (ip, isIn) => {
    expect(ranges.has(ip)).toBe(isIn)
  })

  test('every line counts, also a redundant one', () => {
    expect(ranges.count).toBe(7)
  })
})

test.each([
  ['0.0.0.0/0', '255.255.255.255', '::1'],
  ['::/0', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '10.0.0.1'],
])('%s contains every address of its IP version and no other', (range, inside, outside) => {
  expect(parseRanges(range).has(inside)).toBe(true)
  expect(parseRanges(range).has(outside)).toBe(false)
})

test.each(['', '\n\n', '# nothing'])('a list without ranges has no address: %j', (text) => {
  expect(parseRanges(text).has('203.0.113.9')).toBe(false)
})

test.each<[string, string]>([
  ['10.0.0.0/8\n# fine\nnonsense', 'line 3: "nonsense" is not an address or CIDR range'],
  ['10.0.0.0/33', 'line 1: "10.0.0.0/33" is not an address'],
  ['10.0.0.0/8, 11.0.0.0/8', 'line 1: "10.0.0.0/8, 11.0.0.0/8" is not an address'],
  ['\n10.0.0', 'line 2: "10.0.0" is not an address'],
])('%j is refused with the line number', (text, message) => {
  expect(() => parseRanges(text)).toThrow(message)
})

test('the lookup finds the same as a linear search', () => {
  const ipv4 = fc
    .tuple(fc.constantFrom('10', '11'), fc.nat(3), fc.nat(255), fc.nat(255))
    .map((parts) => parts.join('.'))
  const ipv6 = fc.tuple(fc.nat(3), fc.nat(0xffff)).map(([a, b]) => `2001:db8:${a}::${b.toString(16)}`)
  const range = fc.oneof(
    fc.tuple(ipv4, fc.integer({ min: 8, max: 32 })).map((parts) => parts.join('/')),
    fc.tuple(ipv6, fc.integer({ min: 40, max: 128 })).map((parts) => parts.join('/')),
  )
  const lists = fc.array(range, { maxLength: 30 })
  const addresses = fc.array(fc.oneof(ipv4, ipv6), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(lists, addresses, (list, addresses) => {
      const ranges = parseRanges(list.join('\n'))
      const naive = openAddressReader(list)
      const edges = list.map((range) => range.split('/')[0] as string)
      for (const ip of [...addresses, ...edges]) expect([ip, ranges.has(ip)]).toEqual([ip, naive(ip).trusted])
    }),
  )
})

test('a file of ranges is read, and the error for a missing file has its name', () => {
  const file = join(folder, 'ranges.txt')
  writeFileSync(file, text)
  expect(readRanges(file).has('203.0.113.9')).toBe(true)
  expect(() => readRanges(join(folder, 'none.txt'))).toThrow(/^the file can't be read \(ENOENT.*none\.txt/)
})
