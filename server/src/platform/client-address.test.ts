import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { clientNetwork, openAddressReader, readClient } from './client-address.ts'
import { parseRange } from './ranges.ts'

const proxies = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1']

describe("the visitor's address", () => {
  test.each<[string, { peer?: string; forwarded?: string }, string]>([
    ['the peer address', { peer: '203.0.113.9' }, '203.0.113.9'],
    ['the peer, when it is not a trusted proxy', { peer: '203.0.113.9', forwarded: '198.51.100.1' }, '203.0.113.9'],
    ['the peer, when a proxy forwards nothing', { peer: '10.1.2.3' }, '10.1.2.3'],
    ['the address from a proxy', { peer: '10.1.2.3', forwarded: '198.51.100.1' }, '198.51.100.1'],
    ['the address from a single proxy', { peer: '192.0.2.7', forwarded: '198.51.100.1' }, '198.51.100.1'],
    ['the peer, beside a single proxy', { peer: '192.0.2.8', forwarded: '198.51.100.1' }, '192.0.2.8'],
    ['the rightmost, not one left of it', { peer: '10.1.2.3', forwarded: '1.1.1.1, 198.51.100.1' }, '198.51.100.1'],
    ['the first untrusted one', { peer: '10.1.2.3', forwarded: '1.1.1.1,198.51.100.1,10.9.9.9' }, '198.51.100.1'],
    ['the leftmost, when all are trusted', { peer: '10.1.2.3', forwarded: '10.0.0.5, 10.0.0.6' }, '10.0.0.5'],
    ['an IPv6 visitor', { peer: '10.1.2.3', forwarded: '2001:DB8:0::1' }, '2001:db8::1'],
    ['behind an IPv6 proxy', { peer: 'fd12:3456::1', forwarded: '2001:db8::1' }, '2001:db8::1'],
    ['an untrusted IPv6 peer', { peer: 'fe00::1', forwarded: '2001:db8::1' }, 'fe00::1'],
    ['an IPv4 peer on an IPv6 socket', { peer: '::ffff:203.0.113.9' }, '203.0.113.9'],
    ['an IPv4 proxy on an IPv6 socket', { peer: '::ffff:10.1.2.3', forwarded: '198.51.100.1' }, '198.51.100.1'],
    ['a mapped visitor', { peer: '10.1.2.3', forwarded: '::ffff:198.51.100.1' }, '198.51.100.1'],
    ['a mapped proxy in the chain', { peer: '10.1.2.3', forwarded: '198.51.100.1, ::ffff:10.0.0.1' }, '198.51.100.1'],
    ['IPv4 without its port', { peer: '10.1.2.3', forwarded: '1.1.1.1, 198.51.100.1:51234' }, '198.51.100.1'],
    ['IPv6 without brackets, port', { peer: '10.1.2.3', forwarded: '[2001:db8::1]:443' }, '2001:db8::1'],
    ['the proxy, when it sends "unknown"', { peer: '10.1.2.3', forwarded: '6.6.6.6, unknown' }, '10.1.2.3'],
    ['the last trusted one before garbage', { peer: '10.1.2.3', forwarded: '6.6.6.6, x, 10.0.0.4' }, '10.0.0.4'],
    ['the proxy, after garbage', { peer: '10.1.2.3', forwarded: '<script>' }, '10.1.2.3'],
    ['the proxy, after numbers that are not an address', { peer: '10.1.2.3', forwarded: '127.1' }, '10.1.2.3'],
    ['the proxy, after a trailing comma', { peer: '10.1.2.3', forwarded: '6.6.6.6,' }, '10.1.2.3'],
    ['empty, when the socket is closed', { forwarded: '6.6.6.6' }, ''],
  ])('is %s', (_name, { peer, forwarded }, ip) => {
    expect(client(peer, { 'x-forwarded-for': forwarded }).ip).toBe(ip)
  })
})

test('an address is read as the library reads it, whatever its form', () => {
  const ranges = proxies.map(parseRange)
  const read = openAddressReader(proxies)
  const nowhere = { ip: '', trusted: false, loopback: false }
  const readSlowly = (address: ipaddr.IPv4 | ipaddr.IPv6) => ({
    ip: address.toString(),
    trusted: ranges.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits)),
    loopback: address.range() === 'loopback',
  })
  const part = fc.oneof(fc.nat(255).map(String), fc.constantFrom('010', '256', '0x7f', '', '-1', '1e1', ' 1'))
  const dotted = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'))
  const known = fc.constantFrom('10.1.2.3', '192.0.2.7', '127.0.0.1', '::1', '::ffff:10.0.0.1', 'fd00::1%eth0', '')
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), dotted, known, fc.string()), (text) => {
      expect(read(text)).toEqual(ipaddr.isValid(text) ? readSlowly(ipaddr.process(text)) : nowhere)
    }),
    { numRuns: 3_000 },
  )
})

describe('encryption', () => {
  test.each<[string, { peer: string; proto?: string; encrypted?: boolean }, boolean]>([
    ['own TLS', { peer: '203.0.113.9', encrypted: true }, true],
    ['own TLS, whatever the header says', { peer: '203.0.113.9', encrypted: true, proto: 'http' }, true],
    ['plain', { peer: '203.0.113.9' }, false],
    ['a visitor that claims HTTPS', { peer: '203.0.113.9', proto: 'https' }, false],
    ['loopback that claims HTTPS but is not a proxy', { peer: '127.0.0.1', proto: 'https' }, false],
    ['a proxy', { peer: '10.1.2.3', proto: 'https' }, true],
    ['a proxy in capitals', { peer: '10.1.2.3', proto: 'HTTPS' }, true],
    ['a proxy that got plain HTTP', { peer: '10.1.2.3', proto: 'http' }, false],
    ['a proxy without the header', { peer: '10.1.2.3' }, false],
    ['two proxies', { peer: '10.1.2.3', proto: 'https, https' }, true],
    ['a visitor claiming HTTPS to a proxy that appends', { peer: '10.1.2.3', proto: 'https, http' }, false],
  ])('%s', (_name, { peer, proto, encrypted }, secure) => {
    expect(client(peer, { 'x-forwarded-proto': proto }, encrypted).secure).toBe(secure)
  })
})

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.1.2.3', false],
  ['203.0.113.9', false],
  ['', false],
])('%s is loopback: %s', (peer, loopback) => {
  // A forwarded header never makes a visitor count as localhost.
  expect(client(peer, { 'x-forwarded-for': '127.0.0.1' }).loopback).toBe(loopback)
})

test.each([
  ['10.0.0.0/8', '10.255.1.1', '11.0.0.0'],
  ['10.7.7.7/8', '10.255.1.1', '11.0.0.0'],
  ['0.0.0.0/0', '203.0.113.9', '2001:db8::1'],
  ['198.51.100.1', '198.51.100.1', '198.51.100.2'],
  ['::ffff:198.51.100.1', '198.51.100.1', '198.51.100.2'],
  ['::ffff:10.0.0.0/104', '10.255.1.1', '11.0.0.0'],
  ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::1'],
  ['::/0', '2001:db8::1', '10.0.0.1'],
])('the range %s holds %s and not %s', (range, inside, outside) => {
  const readAddress = openAddressReader([range])
  expect([readAddress(inside).trusted, readAddress(outside).trusted, readAddress('x').trusted]).toEqual([
    true,
    false,
    false,
  ])
})

test.each([
  '',
  'proxy.local',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10/8',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  '::/129',
  '::ffff:1.2.3.4/90',
])('the range %j is refused', (range) => {
  expect(() => parseRange(range)).toThrow(`${JSON.stringify(range)} is not an address or CIDR range`)
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8:1:2::', '2001:db8:1:2::'],
  ['', ''],
])('%s is a visitor of %s', (ip, network) => {
  expect(clientNetwork(ip)).toBe(network)
})

function client(peer: string | undefined, headers: Record<string, string | undefined>, encrypted = false) {
  const socket = { remoteAddress: peer, ...(encrypted && { encrypted }) }
  return readClient({ headers, socket } as Parameters<typeof readClient>[0], openAddressReader(proxies))
}
